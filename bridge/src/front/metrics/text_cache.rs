//! The last text in each dialect, for requests that follow at once.
//!
//! Owns how old a text may be. Every program of this machine may ask as often as it can. Must never have the bridge's one
//! loop write a text for each request, nor two at once.

use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::sync::Mutex;

use crate::host::Dialect;

/// How long the same text is served again.
const AGE: Duration = Duration::from_secs(1);

type Text = Mutex<Option<(Instant, Rc<str>)>>;

#[derive(Debug, Default)]
pub struct MetricsCache {
    prometheus: Text,
    open: Text,
}

impl MetricsCache {
    /// The text for a request of `now`, written anew if it is too old. Requests that come meanwhile wait for
    /// the same text.
    pub async fn text(&self, dialect: Dialect, now: Instant, write: impl AsyncFnOnce() -> String) -> Rc<str> {
        let kept = match dialect {
            Dialect::Prometheus => &self.prometheus,
            Dialect::OpenMetrics => &self.open,
        };
        let mut kept = kept.lock().await;
        if let Some((at, text)) = &*kept
            && now.saturating_duration_since(*at) < AGE
        {
            return Rc::clone(text);
        }
        let text: Rc<str> = write().await.into();
        *kept = Some((now, Rc::clone(&text)));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[tokio::test]
    async fn a_text_is_written_once_a_second_however_many_ask() {
        let (kept, written, begin) = (MetricsCache::default(), Cell::new(0), Instant::now());
        let ask = |dialect, ms| {
            kept.text(dialect, begin + Duration::from_millis(ms), async || {
                tokio::task::yield_now().await;
                written.set(written.get() + 1);
                written.get().to_string()
            })
        };
        let (first, second) = tokio::join!(ask(Dialect::Prometheus, 0), ask(Dialect::Prometheus, 1));
        assert_eq!((&*first, &*second), ("1", "1"));
        assert_eq!(&*ask(Dialect::OpenMetrics, 2).await, "2", "another text");
        assert_eq!(&*ask(Dialect::Prometheus, 999).await, "1");
        assert_eq!(&*ask(Dialect::Prometheus, 1000).await, "3");
    }
}
