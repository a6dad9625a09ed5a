//! `approvals_…`: the questions about calls, and the answers that stand.
//!
//! Owns these forms, and who is told of questions. Must never answer a question for the person.

use std::rc::Rc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{
    Approval, ApprovalPush, ApprovalsAnswer, ApprovalsAnswerResult, ApprovalsGuard, ApprovalsGuardResult,
    ApprovalsList, ApprovalsListResult, ApprovalsRevoke, ApprovalsRevokeResult, ApprovalsWatch,
    ApprovalsWatchResult,
};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::json::Json;

use super::client::Client;
use super::reply::{Handled, reply};
use super::state::Router;
use crate::host::asker::parse_origin;
use crate::host::to_the_end;

pub(super) fn list(router: &Router, message: &ApprovalsList) -> Handled {
    let (waiting, standing) = router.host.consent.all();
    let Some(id) = &message.approval_id else {
        return reply(ApprovalsListResult { waiting, standing, arguments: None });
    };
    let Some((approval, arguments)) = router.host.consent.question(id) else {
        let message = format!("there is no question {id:.64}; `harbor approvals` lists them");
        return Err(ErrorBody::new(Code::NotFound, message));
    };
    let arguments = Some(Json::from_valid(arguments));
    reply(ApprovalsListResult { waiting: vec![approval], standing: Vec::new(), arguments })
}

pub(super) async fn answer(router: &Rc<Router>, message: ApprovalsAnswer) -> Handled {
    let router = router.clone();
    to_the_end(async move {
        let ApprovalsAnswer { approval_id, answer, reason } = message;
        let answered = router.host.answer_question(&approval_id, &answer, reason).await?;
        reply(ApprovalsAnswerResult { answered })
    })
    .await
}

pub(super) async fn revoke(router: &Rc<Router>, client: &Client, message: ApprovalsRevoke) -> Handled {
    let (router, sender) = (router.clone(), client.sender());
    to_the_end(async move {
        let revoked = router.host.revoke_answers(&sender, message.approval_id.as_deref()).await?;
        reply(ApprovalsRevokeResult { revoked })
    })
    .await
}

pub(super) async fn guard(router: &Rc<Router>, client: &Client, message: ApprovalsGuard) -> Handled {
    let (router, sender) = (router.clone(), client.sender());
    to_the_end(async move {
        let origin = parse_origin(&message.origin)?;
        if let Some(is_on) = message.guard {
            router.host.set_guard(&sender, &origin, is_on).await?;
        }
        reply(ApprovalsGuardResult { guard: router.host.consent.has_guard(&origin) })
    })
    .await
}

pub(super) fn watch(router: &Router, client: &Client, message: &ApprovalsWatch) -> Handled {
    let is_wanted = message.watch != Some(false);
    client.shows_questions(is_wanted.then(|| router.host.consent.face()));
    if is_wanted {
        let (waiting, _) = router.host.consent.all();
        let open = waiting.into_iter().filter(|approval| &*approval.state == "waiting");
        open.for_each(|approval| client.send_push(&ApprovalPush { approval, waits: true }));
    }
    reply(ApprovalsWatchResult {})
}

/// Tells the clients that show questions about one.
pub(super) fn tell(clients: &[Rc<Client>], approval: &Approval, about: u64, waits: bool) {
    for client in clients.iter().filter(|client| client.has_questions_shown()) {
        let own = (client.sender().client == about).then_some(true);
        client.send_push(&ApprovalPush { approval: Approval { own, ..approval.clone() }, waits });
    }
}
