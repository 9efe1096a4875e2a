// Catalogues and the filling of placeholders. No state: `i18n.svelte.ts` holds the chosen language.

import { en, type MessageKey } from './en';
import { zh } from './zh';

export type { MessageKey };
export type Language = 'en' | 'zh';
export type Parameters = Readonly<Record<string, string | number>>;

export const CATALOGUES: Readonly<Record<Language, Readonly<Record<MessageKey, string>>>> = {
	en,
	zh
};

export function message(language: Language, key: MessageKey, parameters: Parameters = {}): string {
	return CATALOGUES[language][key].replace(/\{(\w+)\}/g, (whole, name: string) => {
		const value = parameters[name];
		return value === undefined ? whole : String(value);
	});
}

/** Whether the catalogues have a message of this key, for keys built from words of the API. */
export function isMessageKey(key: string): key is MessageKey {
	return Object.hasOwn(en, key);
}
