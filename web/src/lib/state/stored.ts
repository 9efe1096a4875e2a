// Small settings in the browser's storage, which may be forbidden: then defaults hold.

export function readSetting(name: string): string | null {
	try {
		return localStorage.getItem(`lightspeed.${name}`);
	} catch {
		return null;
	}
}

export function writeSetting(name: string, value: string | null): void {
	try {
		if (value === null) localStorage.removeItem(`lightspeed.${name}`);
		else localStorage.setItem(`lightspeed.${name}`, value);
	} catch {
		// The setting then lasts as long as the page.
	}
}
