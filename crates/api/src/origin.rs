//! Whether a request comes from this site's own pages.
//!
//! Browsers send `Origin` with every request that changes state. It must be, in scheme, host and
//! port, the public URL's. A service that is itself reached over plain HTTP takes one more: `http` and
//! the very host that was asked (a port forward, `localhost` for `127.0.0.1`), because a page of
//! another host cannot make its origin so. Behind a proxy that speaks TLS the public URL must be
//! configured; then nothing but that origin passes, whatever the proxy says in `Host`.

use axum::http::uri::Authority;
use axum::http::{HeaderMap, header};
use url::{Origin, Url};

/// Whether the request's `Origin` is this site's.
pub(crate) fn is_own(headers: &HeaderMap, public_url: &str) -> bool {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let Some(origin) = text(header::ORIGIN).and_then(exact) else {
        return false;
    };
    let Some(public) = Url::parse(public_url).ok().filter(Url::has_host) else {
        return false;
    };
    if origin == public.origin() {
        return true;
    }
    let asked = text(header::HOST).and_then(over_http);
    public.scheme() == "http" && asked.is_some_and(|asked| asked == origin)
}

/// An origin written as browsers write it: no path, no default port, small letters.
fn exact(text: &str) -> Option<Origin> {
    let url = Url::parse(text).ok().filter(Url::has_host)?;
    let is_web = matches!(url.scheme(), "http" | "https");
    let origin = url.origin();
    (is_web && origin.ascii_serialization() == text).then_some(origin)
}

fn over_http(host: &str) -> Option<Origin> {
    let authority: Authority = host.parse().ok()?;
    if authority.host().is_empty() || authority.as_str().contains('@') {
        return None;
    }
    Some(Url::parse(&format!("http://{authority}")).ok()?.origin())
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn passes(public: &str, origin: Option<&'static str>, host: Option<&'static str>) -> bool {
        let mut headers = HeaderMap::new();
        if let Some(host) = host {
            headers.insert(header::HOST, HeaderValue::from_static(host));
        }
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, HeaderValue::from_static(origin));
        }
        is_own(&headers, public)
    }

    #[test]
    fn over_plain_http_the_public_url_and_the_host_that_was_asked_are_this_site() {
        let public = "http://127.0.0.1:8080/";
        let cases = [
            (Some("http://127.0.0.1:8080"), Some("localhost:1"), true),
            (Some("http://localhost:9000"), Some("localhost:9000"), true),
            (Some("http://judge.test"), Some("judge.test:80"), true),
            (Some("http://judge.test"), Some("Judge.Test"), true),
            (Some("http://[::1]:8080"), Some("[::1]:8080"), true),
            // Another port, host or scheme is another site.
            (Some("http://localhost:9999"), Some("localhost:8080"), false),
            (Some("http://localhost"), Some("localhost:8080"), false),
            (Some("http://evil.example"), Some("localhost:8080"), false),
            (
                Some("https://localhost:8080"),
                Some("localhost:8080"),
                false,
            ),
            (
                Some("https://127.0.0.1:8080"),
                Some("127.0.0.1:8080"),
                false,
            ),
            (Some("ftp://localhost:8080"), Some("localhost:8080"), false),
            // Nothing that only looks like one.
            (Some("x://"), Some(""), false),
            (Some("http://"), Some(""), false),
            (Some("http://"), None, false),
            (Some(""), Some(""), false),
            (Some("null"), Some("null"), false),
            (Some("localhost:8080"), Some("localhost:8080"), false),
            (
                Some("http://localhost:8080/"),
                Some("localhost:8080"),
                false,
            ),
            (
                Some("http://a@localhost:8080"),
                Some("a@localhost:8080"),
                false,
            ),
            (Some("http://localhost"), Some("a@localhost"), false),
            (None, Some("localhost:8080"), false),
        ];
        for (origin, host, expected) in cases {
            assert_eq!(
                passes(public, origin, host),
                expected,
                "{origin:?} {host:?}"
            );
        }
    }

    #[test]
    fn behind_tls_only_the_public_url_is_this_site() {
        for public in ["https://judge.example", "https://judge.example:443/"] {
            let passes = |origin, host| passes(public, Some(origin), Some(host));
            assert!(passes("https://judge.example", "10.0.0.7:8080"));
            assert!(!passes("http://judge.example", "judge.example"));
            assert!(!passes("https://judge.example:444", "judge.example:444"));
            assert!(!passes("http://10.0.0.7:8080", "10.0.0.7:8080"));
            assert!(!passes("https://evil.example", "evil.example"));
        }
    }
}
