// Runs before the first paint: applies the stored theme and language, so that nothing flashes.
(function () {
	try {
		var theme = localStorage.getItem('lightspeed.theme');
		if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
		var language = localStorage.getItem('lightspeed.language');
		var chinese = language ? language === 'zh' : /^zh\b/i.test(navigator.language || '');
		document.documentElement.lang = chinese ? 'zh-Hans' : 'en';
	} catch {
		// Storage may be forbidden; the defaults of the style sheet then hold.
	}
})();
