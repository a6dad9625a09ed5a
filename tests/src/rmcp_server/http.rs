//! The server of rmcp over HTTP, on loopback: rmcp's service behind hyper, on a thread of its own.
//!
//! Must never outlive its owner.

use std::convert::Infallible;
use std::net::TcpListener;
use std::sync::Arc;
use std::thread::JoinHandle;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::oneshot;

use super::{Generation, RmcpServer};

type Service = StreamableHttpService<RmcpServer, LocalSessionManager>;

/// It, until this is dropped.
#[derive(Debug)]
pub struct RmcpHttp {
    port: u16,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl RmcpHttp {
    /// Starts it on a free port.
    ///
    /// # Panics
    /// When there is none.
    #[must_use]
    pub fn start(generation: Generation) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        listener.set_nonblocking(true).expect("a socket can be told");
        let port = listener.local_addr().expect("it is bound").port();
        let (end, ended) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            // What is still connected ends with the runtime.
            runtime.expect("a runtime").block_on(async {
                tokio::select! {
                    () = accept(listener, generation) => {}
                    _ = ended => {}
                }
            });
        });
        Self { port, end: Some(end), thread: Some(thread) }
    }

    /// Where MCP is.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }
}

impl Drop for RmcpHttp {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn accept(listener: TcpListener, generation: Generation) {
    let server = RmcpServer::new(generation);
    let config = StreamableHttpServerConfig::default();
    let service = Service::new(move || Ok(server.clone()), Arc::default(), config);
    let listener = tokio::net::TcpListener::from_std(listener).expect("it does not block");
    while let Ok((stream, _)) = listener.accept().await {
        let service = service.clone();
        tokio::spawn(async move {
            let answer = service_fn(move |request| {
                let service = service.clone();
                async move { Ok::<_, Infallible>(service.handle(request).await) }
            });
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
        });
    }
}
