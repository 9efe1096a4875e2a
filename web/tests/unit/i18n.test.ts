import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { CATALOGUES, isMessageKey, message } from '$lib/i18n/messages';

const SOURCES = readdirSync('src', { recursive: true, encoding: 'utf8' })
	.filter((name) => /\.(svelte|ts)$/.test(name) && !name.includes('i18n/'))
	.map((name) => ({ name, text: readFileSync(join('src', name), 'utf8') }));
const KEYS = Object.keys(CATALOGUES.en);
const placeholders = (text: string): string[] => (text.match(/\{\w+\}/g) ?? []).sort();

describe('the catalogues', () => {
	it('have the same keys', () => {
		expect(Object.keys(CATALOGUES.zh).sort()).toEqual([...KEYS].sort());
	});

	it('have no empty text and the same placeholders in both languages', () => {
		for (const key of KEYS.filter(isMessageKey)) {
			expect(CATALOGUES.en[key].trim(), key).not.toBe('');
			expect(CATALOGUES.zh[key].trim(), key).not.toBe('');
			expect(placeholders(CATALOGUES.zh[key]), key).toEqual(placeholders(CATALOGUES.en[key]));
		}
	});

	it('are translated: Chinese texts hold Chinese, apart from names and symbols', () => {
		const same = KEYS.filter(isMessageKey).filter(
			(key) => CATALOGUES.en[key] === CATALOGUES.zh[key]
		);
		expect(same.sort()).toEqual([
			'code.ptx',
			'code.sass',
			'metric.sol',
			'metric.sol.short',
			'report.shape.sol',
			'report.shape.time',
			'report.shape.tsol',
			'roof.throughput'
		]);
	});

	it('cover every word of the contract that a page builds a key from', () => {
		const words: Record<string, string> = {
			verdict:
				'accepted wrong_answer compile_error plan_error runtime_error time_limit memory_limit output_limit cancelled held rejected unsupported judge_error',
			reason:
				'signature unsupported_construct fuel launch_config host_fault diagnostics compiler_crash compile_limit instruction_fuel wall_clock slower_than_baseline opcode illegal_address misaligned launch_failure out_of_bounds race uninitialised_read use_after_free const_write input_modified barrier_divergence deadlock trap assert',
			metric: 'sol modelled_sol traffic_efficiency',
			term: 'launch dram l2 shared issue pipe tensor atomics latency',
			live: 'queued compiling checking timing verifying',
			'report.cause': 'output_not_set',
			role: 'edge public held_out emulated',
			stage: 'plan compile run',
			severity: 'error warning note',
			phase: 'queue plan compile execute check time overhead total',
			direction: 'in out inout scalar'
		};
		for (const [prefix, list] of Object.entries(words)) {
			for (const word of list.split(' ')) {
				expect(isMessageKey(`${prefix}.${word}`), `${prefix}.${word}`).toBe(true);
			}
		}
	});

	it('hold no message that no page uses', () => {
		const all = SOURCES.map((source) => source.text).join('\n');
		const unused = KEYS.filter((key) => {
			if (all.includes(`'${key}'`)) return false;
			// Built from a word: t(`verdict.${verdict}`), word('counter', name).
			return !key
				.split('.')
				.slice(0, -1)
				.some((_, index, parts) => {
					const prefix = parts.slice(0, index + 1).join('.');
					return all.includes(`\`${prefix}.\${`) || all.includes(`word('${prefix}'`);
				});
		});
		expect(unused).toEqual([]);
	});
});

describe('pages', () => {
	it('have no text of their own outside the catalogues', () => {
		// Text between tags, apart from names, punctuation, numbers and expressions.
		const allowed = /^(Lightspeed|NVRTC|FLOP|B|\.\/lightspeed (up --login-link|status)|[\s\W\d]*)$/;
		const loose = SOURCES.filter(({ name }) => name.endsWith('.svelte')).flatMap(
			({ name, text }) => {
				const markup = text
					.replace(/<script[\s\S]*?<\/script>|<style[\s\S]*?<\/style>|<!--[\s\S]*?-->/g, '')
					.replace(/\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}/g, '');
				return [...markup.matchAll(/>([^<>]+)</g)]
					.map((match) => (match[1] ?? '').replace(/[·:]/g, '').trim())
					.filter((words) => !allowed.test(words))
					.map((words) => `${name}: ${words}`);
			}
		);
		expect(loose).toEqual([]);
	});
});

describe('filling in', () => {
	it('puts values where they belong and keeps unknown braces', () => {
		expect(message('en', 'list.count', { shown: 2, total: 6 })).toBe('2 of 6');
		expect(message('zh', 'list.count', { shown: 2, total: 6 })).toBe('2 / 6');
		expect(message('en', 'list.count', { shown: 2 })).toBe('2 of {total}');
		// A value is never read as a template.
		expect(message('en', 'list.count', { shown: '{total}', total: 6 })).toBe('{total} of 6');
	});
});
