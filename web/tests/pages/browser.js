// The system's Chromium, as the page tests and pictures start it.

import { chromium } from 'playwright-core';

export function launch() {
	return chromium.launch({
		executablePath: process.env.LIGHTSPEED_CHROMIUM ?? '/usr/bin/chromium',
		args: [
			'--no-sandbox',
			'--disable-gpu',
			'--disable-quic',
			'--no-first-run',
			'--disable-background-networking',
			'--disable-component-update',
			'--disable-sync'
		]
	});
}

/** Replaces the text of the editor, as a person would. */
export async function typeSource(page, source) {
	const content = page.getByTestId('editor').locator('.cm-content');
	await content.click();
	await page.keyboard.press('ControlOrMeta+A');
	await page.keyboard.press('Delete');
	await page.keyboard.insertText(source);
}
