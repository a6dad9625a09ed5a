//! What a server sees of the bridge's environment.
//!
//! Names on a list and the server's own variables, nothing else: the person's shell is full of other people's
//! secrets.

use std::collections::BTreeMap;

/// Names that are passed on when they are set.
const PASSED: &[&str] = &[
    "ALL_PROXY",
    "CURL_CA_BUNDLE",
    "HOME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "NODE_EXTRA_CA_CERTS",
    "NO_PROXY",
    "PATH",
    "REQUESTS_CA_BUNDLE",
    "SHELL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
];

/// Where programs are looked for when the bridge has no PATH.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The name of the mark by which a later bridge finds what an earlier one left behind.
pub const INSTANCE_MARK: &str = "HARBOR_INSTANCE";

/// The name of the mark by which a runner that serves several servers knows whose a process is.
pub const SERVER_MARK: &str = "HARBOR_SERVER";

/// The whole environment of the server `id`: what is passed on, then its `own` variables over it, then the marks.
pub fn of_server(
    inherited: impl IntoIterator<Item = (String, String)>,
    own: &BTreeMap<String, String>,
    instance: &str,
    id: &str,
) -> BTreeMap<String, String> {
    let mut environment: BTreeMap<_, _> = inherited.into_iter().filter(|(name, _)| is_passed(name)).collect();
    environment.entry("PATH".into()).or_insert_with(|| DEFAULT_PATH.into());
    environment.extend(own.clone());
    environment.insert(INSTANCE_MARK.into(), instance.into());
    environment.insert(SERVER_MARK.into(), id.into());
    environment
}

fn is_passed(name: &str) -> bool {
    // Proxies are written in lower case as often as in upper case.
    let upper = name.to_ascii_uppercase();
    PASSED.contains(&name)
        || name.starts_with("LC_")
        || (upper.ends_with("_PROXY") && PASSED.contains(&upper.as_str()))
}

/// Why an environment variable of a definition cannot be used; `None` when it can.
#[must_use]
pub fn wrong_variable(name: &str, value: &str) -> Option<&'static str> {
    if name.is_empty() || name.contains(['=', '\0']) {
        Some("a name must not be empty or contain '='")
    } else if value.contains('\0') {
        Some("a value must not contain a NUL character")
    } else if name == INSTANCE_MARK || name == SERVER_MARK {
        Some("the names HARBOR_INSTANCE and HARBOR_SERVER are Harbor's own")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_stay_behind() {
        let pairs = |list: &[(&str, &str)]| -> Vec<(String, String)> {
            list.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect()
        };
        let inherited = pairs(&[
            ("AWS_SECRET_ACCESS_KEY", "s"),
            ("HARBOR_HOME", "/h"),
            ("LC_ALL", "C"),
            ("https_proxy", "p"),
            ("LANG", "de"),
        ]);
        let own = pairs(&[("LANG", "en"), ("KEY", "k")]).into_iter().collect();
        let wanted = pairs(&[
            ("HARBOR_INSTANCE", "i"),
            ("HARBOR_SERVER", "s"),
            ("KEY", "k"),
            ("LANG", "en"),
            ("LC_ALL", "C"),
            ("PATH", DEFAULT_PATH),
            ("https_proxy", "p"),
        ]);
        assert_eq!(of_server(inherited, &own, "i", "s"), wanted.into_iter().collect());
    }
}
