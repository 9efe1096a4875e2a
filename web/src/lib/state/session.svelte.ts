// Who is signed in, and whether the API answers. Asked once at the start; pages report what they meet.

import { me } from '$lib/api/client';
import { type ApiFailure, asFailure } from '$lib/api/failure';
import type { Account } from '$lib/api/types';

class Session {
	/** `undefined` until known. */
	account = $state.raw<Account | null | undefined>(undefined);
	/** The last call found nobody answering. */
	offline = $state(false);

	async refresh(): Promise<void> {
		try {
			this.account = await me();
			this.offline = false;
		} catch (thrown) {
			this.note(asFailure(thrown));
		}
	}

	/** Takes in what any call's failure says about the session. */
	note(failure: ApiFailure): void {
		if (failure.isOffline) this.offline = true;
		if (failure.isSignedOut) this.account = null;
	}
}

export const session = new Session();
