//! Requests for metrics: nothing is served but what a plain request to this machine's own name asks for.

use harbor_bridge::front::metrics::head::{MAX_HEAD, MetricsPage, content_type, end, judge};

use super::Target;

pub(super) const METRICS_HEAD: Target = Target {
    name: "metrics_head",
    run: metrics_head,
    corpus: &[
        b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:9464\r\nAccept: application/openmetrics-text;version=1.0.0;q=0.5,*/*\r\n\r\n",
        b"GET / HTTP/1.0\r\nhost:[::1]:9464\r\nSec-Fetch-Site: none\r\n\r\n",
        b"GET /metrics?a=b HTTP/1.1\r\nHost: LocalHost:9464\r\n\r\nGET / HTTP/1.1\r\n\r\n",
        b"GET /metrics HTTP/1.1\r\nHost: evil.example:9464\r\n\r\n",
        b"GET /metrics HTTP/1.1\r\nHost: localhost:9464\r\nOrigin: null\r\n\r\n",
        b"GET /metrics HTTP/1.1\r\nHost: localhost:9464\r\nHost: localhost:9464\r\n\r\n",
        b"POST /metrics HTTP/1.1\r\nHost: 127.0.0.1:9464\r\nContent-Length: 2\r\n\r\nhi",
        b"GET /metrics HTTP/1.1\nHost: 127.1:9464\r\n\xff: \x00\r\n\r\n",
        b"GET /metrics HTTP/1.1\nHost:127.0.0.1:09464\nt:\r\n\r\n",
        b"GET /metrics HTTP/1.1\nHost:localhost:9464\n\nHost:\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\r\n\r\n",
    ],
};

fn metrics_head(bytes: &[u8]) {
    let Some(length) = end(bytes).filter(|length| *length <= MAX_HEAD) else { return };
    let head = &bytes[..length];
    assert_eq!(end(head), Some(length), "what follows says nothing");
    match judge(head, 9464) {
        Ok(page) => {
            let text = String::from_utf8_lossy(head).to_ascii_lowercase();
            let named =
                |name: &str| text.split('\n').filter(|line| line.starts_with(&format!("{name}:"))).count();
            assert!(text.trim_start().starts_with("get /"), "{text:?}");
            assert_eq!((named("host"), named("origin")), (1, 0), "{text:?}");
            let host =
                text.split('\n').find_map(|line| line.strip_prefix("host:")).unwrap_or_default().trim();
            let name = host.strip_suffix(":9464").expect("the port");
            assert!(name == "localhost" || name.starts_with("127.") || name.starts_with('['), "{host}");
            assert!(
                matches!(page, MetricsPage::Metrics(_) | MetricsPage::Index)
                    && content_type(page).contains("charset=utf-8")
            );
        }
        Err(refusal) => {
            assert!(refusal.status.starts_with('4') && !refusal.why.contains(char::is_control));
        }
    }
}
