//! The messages of the model worker.
//!
//! Owns the bounds of the texts in its failures, which are a provider's: one line, without what moves a terminal's cursor. Must
//! never touch what a model says: it is the answer.

use std::io;

use harbor_ipc_proto::link::model::{Event, Failure, FromModel, ToModel};
use harbor_ipc_proto::{BUILD, LINK_PROTOCOL};

use super::{Pair, greeted_twice, line};

/// The bridge and the model worker.
#[derive(Debug)]
pub enum ModelLink {}

impl Pair for ModelLink {
    const PROGRAM: &'static str = "harbor-model-worker";
    /// Eight images of 5 MB, in Base64.
    const MAX_MESSAGE: usize = 64 * 1024 * 1024;
    type To<'a> = ToModel;
    type From<'a> = FromModel;
    type CatalogWorkerMessage = FromModel;

    fn hello() -> ToModel {
        ToModel::Hello { protocol: LINK_PROTOCOL, build: BUILD.into() }
    }

    fn shutdown() -> ToModel {
        ToModel::Shutdown
    }

    fn greeting(message: &FromModel) -> Option<(u32, &str)> {
        match message {
            FromModel::Hello { protocol, build } => Some((*protocol, build)),
            _ => None,
        }
    }

    fn said(message: FromModel) -> io::Result<FromModel> {
        Ok(match message {
            FromModel::Hello { .. } => return Err(greeted_twice()),
            FromModel::Event { id, event: Event::Error(failure) } => {
                FromModel::Event { id, event: Event::Error(bounded(failure)) }
            }
            FromModel::Failed { id, failure } => FromModel::Failed { id, failure: bounded(failure) },
            FromModel::Checked { id, latency_ms, failure } => {
                FromModel::Checked { id, latency_ms, failure: failure.map(bounded) }
            }
            FromModel::Pulling { id, status, done, total } => {
                FromModel::Pulling { id, status: line(&status), done, total }
            }
            other => other,
        })
    }
}

fn bounded(failure: Failure) -> Failure {
    Failure { message: line(&failure.message), ..failure }
}
