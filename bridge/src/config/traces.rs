//! Where traces go, and what the environment says of it.
//!
//! ```text
//!  config.toml     http://HOST:PORT/base ──────────────► …/base/v1/traces
//!  environment     OTEL_EXPORTER_OTLP_ENDPOINT ────────► …/base/v1/traces
//!                  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ─► as it is
//! ```
//!
//! Owns the rule for addresses, and OpenTelemetry's variables. Many programs share those variables: one that is of no use here is
//! left out with a warning, as OpenTelemetry demands, and the bridge starts all the same. Must never show a header's value.

use std::fmt;

use percent_encoding::percent_decode_str;
use url::{Host, Url};

/// The rule for a collector's address, as an error tells it.
pub const ENDPOINT_RULE: &str = "the address of a collector that accepts OTLP over plain HTTP, such as \
                                 \"http://127.0.0.1:4318\"; for https, let a collector on this machine pass the traces \
                                 on";

/// The path that OTLP appends to the address of a collector.
const PATH: &str = "v1/traces";

/// Headers that are not for the person to choose.
const OWN_HEADERS: &[&str] = &[
    "accept",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
];

/// Bytes of headers that are sent at most.
const MAX_HEADERS: usize = 8 * 1024;

/// The collector that gets traces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// The address as it was written, for the person.
    written: String,
    url: Url,
}

impl Endpoint {
    /// A collector's address: OTLP's path is appended.
    #[must_use]
    pub fn of_collector(text: &str) -> Option<Self> {
        let mut endpoint = Self::of_traces(text)?;
        let base = endpoint.url.path().trim_end_matches('/').to_owned();
        endpoint.url.set_path(&format!("{base}/{PATH}"));
        Some(endpoint)
    }

    /// An address that is used unchanged.
    fn of_traces(text: &str) -> Option<Self> {
        let url = Url::parse(text).ok()?;
        let has_password = !url.username().is_empty() || url.password().is_some();
        // The characters are those of a URL; what is shown is a line of TOML.
        let is_plain = text.chars().all(|c| c.is_ascii_graphic() && c != '"' && c != '\\');
        let is_ours = url.scheme() == "http" && url.host().is_some() && url.port() != Some(0);
        let fits = is_plain && is_ours && !has_password && url.query().is_none() && url.fragment().is_none();
        fits.then(|| Self { written: text.to_owned(), url })
    }

    /// The address in written form.
    #[must_use]
    pub fn written(&self) -> &str {
        &self.written
    }

    /// The place to connect to: a name or an address, and the port.
    #[must_use]
    pub fn place(&self) -> (Host<&str>, u16) {
        (self.url.host().unwrap_or(Host::Domain("")), self.url.port_or_known_default().unwrap_or(80))
    }

    /// The value of the header `Host`.
    #[must_use]
    pub fn authority(&self) -> &str {
        self.url.authority()
    }

    /// The path in the first line of a request.
    #[must_use]
    pub fn path(&self) -> &str {
        self.url.path()
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.url.fmt(f)
    }
}

/// Headers that every request carries; they often are a password.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Headers(Vec<(String, String)>);

impl Headers {
    /// Reads headers in OpenTelemetry's form: `name=value,name=value`, values percent-encoded.
    fn parse(text: &str) -> Option<Self> {
        let pairs = text.split(',').map(str::trim).filter(|pair| !pair.is_empty());
        let headers: Vec<_> = pairs.map(header).collect::<Option<_>>()?;
        let length: usize = headers.iter().map(|(name, value)| name.len() + value.len()).sum();
        (length <= MAX_HEADERS).then_some(Self(headers))
    }

    /// Names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

fn header(pair: &str) -> Option<(String, String)> {
    let (name, value) = pair.split_once('=')?;
    let (name, value) = (name.trim().to_ascii_lowercase(), value.trim());
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    let value = percent_decode_str(value).decode_utf8().ok()?.into_owned();
    let fits = !name.is_empty() && name.chars().all(is_token) && !OWN_HEADERS.contains(&name.as_str());
    (fits && value.chars().all(|c| c.is_ascii_graphic() || c == ' ')).then_some((name, value))
}

/// The environment's settings for traces, as they were at the start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TracesEnvironment {
    /// No traces, whatever else says so (`OTEL_SDK_DISABLED`).
    pub disabled: bool,
    /// The address to send them to, whatever the file says.
    pub endpoint: Option<Endpoint>,
    /// Headers that every request carries.
    pub headers: Headers,
    /// Settings that are of no use, and what would be.
    pub ignored: Vec<String>,
}

impl TracesEnvironment {
    /// Reads OpenTelemetry's variables.
    #[must_use]
    pub fn read(get: impl Fn(&'static str) -> Option<String>) -> Self {
        let disabled = get("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"));
        let mut environment = Self { disabled, ..Self::default() };
        if disabled {
            return environment;
        }
        environment.endpoint = environment
            .take(&get, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", Endpoint::of_traces, ENDPOINT_RULE)
            .or_else(|| {
                environment.take(&get, "OTEL_EXPORTER_OTLP_ENDPOINT", Endpoint::of_collector, ENDPOINT_RULE)
            });
        let rule = "name=value pairs with commas between them, values percent-encoded, at most 8 KiB in all";
        environment.headers =
            environment.take(&get, "OTEL_EXPORTER_OTLP_HEADERS", Headers::parse, rule).unwrap_or_default();
        environment
    }

    /// The value may be a password: it is not said.
    fn take<T>(
        &mut self,
        get: &impl Fn(&'static str) -> Option<String>,
        name: &'static str,
        parse: fn(&str) -> Option<T>,
        rule: &str,
    ) -> Option<T> {
        let parsed = parse(&get(name)?);
        if parsed.is_none() {
            self.ignored.push(format!("{name}: expected {rule}"));
        }
        parsed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_is_taken_and_the_path_is_appended() {
        for (text, authority, path, place) in [
            ("http://127.0.0.1:4318", "127.0.0.1:4318", "/v1/traces", ("127.0.0.1", 4318)),
            ("http://collector:4318/", "collector:4318", "/v1/traces", ("collector", 4318)),
            ("http://[::1]/a/b/", "[::1]", "/a/b/v1/traces", ("[::1]", 80)),
            (
                "HTTP://Host.example:80/é".trim_end_matches('é'),
                "host.example",
                "/v1/traces",
                ("host.example", 80),
            ),
        ] {
            let endpoint = Endpoint::of_collector(text).unwrap();
            let (host, port) = endpoint.place();
            assert_eq!((endpoint.written(), endpoint.authority(), endpoint.path()), (text, authority, path));
            assert_eq!((host.to_string().as_str(), port), place);
        }
        assert_eq!(Endpoint::of_traces("http://h/x").unwrap().path(), "/x");
        for text in [
            "",
            "127.0.0.1:4318",
            "localhost:4318",
            "https://collector.example",
            "grpc://h:4317",
            "http://",
            "http://h:0",
            "http://h:65536",
            "http://user:secret@h",
            "http://user@h",
            "http://h/?a=b",
            "http://h/#a",
            "http://h/\"",
            "http://h/\n",
            "unix:///a",
            "http://h/é",
        ] {
            assert_eq!(Endpoint::of_collector(text), None, "{text}");
        }
    }

    fn environment(pairs: &[(&str, &str)]) -> TracesEnvironment {
        let found = |name: &str| pairs.iter().find(|(known, _)| *known == name);
        TracesEnvironment::read(|name| found(name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn the_address_for_traces_goes_before_that_for_everything() {
        let (all, traces) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
        let path = |pairs: &[(&str, &str)]| {
            environment(pairs).endpoint.map(|endpoint| endpoint.to_string()).unwrap_or_default()
        };
        assert_eq!(path(&[]), "");
        assert_eq!(path(&[(all, "http://a")]), "http://a/v1/traces");
        assert_eq!(path(&[(all, "http://a"), (traces, "http://b/c")]), "http://b/c");
        let wrong = environment(&[(all, "http://a"), (traces, "https://b")]);
        assert_eq!(wrong.endpoint.unwrap().to_string(), "http://a/v1/traces");
        assert_eq!(wrong.ignored, [format!("{traces}: expected {ENDPOINT_RULE}")]);
        for (value, disabled) in [("true", true), ("TRUE", true), ("1", false), ("false", false)] {
            let read = environment(&[(all, "http://a"), ("OTEL_SDK_DISABLED", value)]);
            assert_eq!((read.disabled, read.endpoint.is_none()), (disabled, disabled), "{value}");
        }
    }

    #[test]
    fn headers_are_decoded_and_never_shown() {
        let headers = |text| environment(&[("OTEL_EXPORTER_OTLP_HEADERS", text)]);
        let read = headers("Api-Key=s%65cret%20x, b = c=d ,");
        let pairs: Vec<_> = read.headers.iter().collect();
        assert_eq!(pairs, [("api-key", "secret x"), ("b", "c=d")]);
        assert!(!format!("{read:?}").contains("secret"));
        for text in ["a", "=b", "a b=c", "host=x", "Content-Length=3", "a=%0d%0ab", "a=%ff", "a=\u{e9}"] {
            let read = headers(text);
            assert_eq!((read.headers.iter().count(), read.ignored.len()), (0, 1), "{text}");
            let sentence = &read.ignored[0];
            assert!(sentence.starts_with("OTEL_EXPORTER_OTLP_HEADERS: expected name=value"), "{sentence}");
        }
    }
}
