//! Carries the messages of the runner's session by HTTP.
//!
//! Owns that this process is confined before it reads anything of a server.

use std::io;
use std::rc::Rc;

use harbor_ipc_proto::link::oauth::Wish;
use harbor_ipc_proto::link::runner::Remote;
use harbor_runner::{Carrier, Carrying, Petition, Wire};

use crate::connection::Connection;
use crate::held::Room;
use crate::holder::Holder;
use crate::http;
use crate::oauth;

/// Carries by HTTP.
#[derive(Debug, Default)]
pub struct HttpCarrier {
    room: Room,
}

impl Carrier for HttpCarrier {
    fn confine(&self) -> io::Result<()> {
        harbor_web::confine::confine()
    }

    fn carry(&self, server: Remote<'static>, env: Vec<(String, String)>, wire: Wire) -> Carrying {
        let held = self.room.connection();
        Box::pin(async move {
            let holder = Holder::of(&server, &wire);
            match http::Http::new(&server, &env).map(|http| http.with_grant(holder)) {
                Ok(http) => Rc::new(Connection::new(http, wire, server.transport, held)).run().await,
                Err(trouble) => trouble.end(),
            }
        })
    }

    fn authorize(
        &self,
        server: Remote<'static>,
        env: Vec<(String, String)>,
        wish: Wish<'static>,
        petition: Petition,
    ) -> Carrying {
        Box::pin(async move { oauth::authorize(&server, env, wish, petition).await })
    }

    fn revoke(&self, server: Remote<'static>, env: Vec<(String, String)>) -> Carrying {
        Box::pin(async move { oauth::revoke(&server, env).await })
    }

    fn renew(&self, server: Remote<'static>, env: Vec<(String, String)>, petition: Petition) -> Carrying {
        Box::pin(async move { oauth::renew(&server, env, &petition).await })
    }
}
