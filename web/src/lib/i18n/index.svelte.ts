// The language of the page. `t` reads it, so that every text follows a switch at once.

import type { Localized } from '$lib/api/types';
import { readSetting, writeSetting } from '$lib/state/stored';

import { isMessageKey, type Language, message, type MessageKey, type Parameters } from './messages';

export type { MessageKey };

class I18n {
	language = $state<Language>(initialLanguage());

	/** For `Intl`. */
	get locale(): string {
		return this.language === 'zh' ? 'zh-Hans' : 'en-GB';
	}

	toggle(): void {
		this.language = this.language === 'en' ? 'zh' : 'en';
		writeSetting('language', this.language);
		document.documentElement.lang = this.language === 'zh' ? 'zh-Hans' : 'en';
	}
}

function initialLanguage(): Language {
	const stored = readSetting('language');
	if (stored === 'en' || stored === 'zh') return stored;
	return /^zh\b/i.test(navigator.language) ? 'zh' : 'en';
}

export const i18n = new I18n();

export function t(key: MessageKey, parameters?: Parameters): string {
	return message(i18n.language, key, parameters);
}

/** The message `prefix.word`, or the word itself: the API may grow words that this page lacks. */
export function word(prefix: string, value: string): string {
	const key = `${prefix}.${value}`;
	return isMessageKey(key) ? t(key) : value.replaceAll('_', ' ');
}

/** The text in the page's language, or in the other one when it is missing. */
export function localized(text: Localized): string {
	return (i18n.language === 'zh' ? text.zh || text.en : text.en || text.zh).trim();
}
