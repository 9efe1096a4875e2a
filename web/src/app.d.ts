declare global {
	namespace App {
		interface Error {
			message: string;
			/** Stable code of the API's problem document, where it spoke. */
			code?: string;
			requestId?: string;
			status?: number;
		}
	}
}

export {};
