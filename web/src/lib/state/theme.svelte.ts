// Light, dark, or what the system says. `static/preferences.js` applies the stored value before paint.

import { readSetting, writeSetting } from './stored';

export type Theme = 'system' | 'light' | 'dark';
const ORDER: readonly Theme[] = ['system', 'light', 'dark'];

class ThemeSetting {
	current = $state<Theme>(parse(readSetting('theme')));

	next(): void {
		this.current = ORDER[(ORDER.indexOf(this.current) + 1) % ORDER.length] ?? 'system';
		writeSetting('theme', this.current === 'system' ? null : this.current);
		if (this.current === 'system') delete document.documentElement.dataset.theme;
		else document.documentElement.dataset.theme = this.current;
	}
}

function parse(text: string | null): Theme {
	return text === 'light' || text === 'dark' ? text : 'system';
}

export const theme = new ThemeSetting();
