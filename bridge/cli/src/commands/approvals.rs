//! approvals: the questions about calls that wait for the person, and the answers that stand.
//!
//! Owns answering them away from where they were asked. Must never answer a question that was not clearly
//! meant, nor with a word that the question does not offer.

pub mod words;

use std::collections::BTreeSet;

use harbor_client::errors::Failure;
use harbor_client::terminal::{remark, reveal};
use harbor_ipc_proto::client::{
    Approval, ApprovalsAnswer, ApprovalsList, ApprovalsListResult, ApprovalsRevoke, StandingAnswer,
};

use self::words::{covered_by, covers, leaving, names, offered, wanted, who, whose};
use super::ids::{meant, short};
use super::printing::{count, print};
use crate::args::{Approvals, No, RevokeAnswer, Yes};
use crate::client::{Client, QUICK};
use crate::inset::inset;
use crate::pretty::pretty;
use crate::screen::Screen;
use crate::table::{Table, flatten};
use crate::when;

/// Advice about an unknown id.
const LISTED: &str = "`harbor approvals` lists them";

/// The state of a question that is no longer waited for.
const MISSED: &str = "missed";

pub fn run(client: &mut Client, wanted: &Approvals, screen: &mut Screen) -> Result<(), Failure> {
    match wanted {
        Approvals::List => list(client, screen),
        Approvals::Show { id } => show(client, id, screen),
        Approvals::Yes(yes) => say_yes(client, yes, screen),
        Approvals::No(no) => say_no(client, no, screen),
        Approvals::Revoke(revoked) => revoke(client, revoked, screen),
    }
}

fn list(client: &mut Client, screen: &mut Screen) -> Result<(), Failure> {
    let answer = client.ask(&ApprovalsList { approval_id: None }, QUICK)?;
    if screen.json {
        return Ok(screen.json(&answer.to_json())?);
    }
    let (waiting, standing) = (&answer.waiting, &answer.standing);
    if waiting.is_empty() && standing.is_empty() {
        remark("no question waits for your answer, and no answer stands");
    }
    if !waiting.is_empty() {
        screen.text("Waiting for your answer:")?;
        screen.table(&questions(waiting, when::now()))?;
    }
    if !standing.is_empty() {
        screen.text(if waiting.is_empty() { "Answers that stand:" } else { "\nAnswers that stand:" })?;
        screen.table(&answers(standing, when::now()))?;
    }
    Ok(())
}

fn questions(waiting: &[Approval], now: u64) -> Table {
    let mut table = Table::new(&["ID", "WHO", "TOOL", "SINCE", "WHY"]);
    for question in waiting {
        let missed = if &*question.state == MISSED { ", missed" } else { "" };
        table.add([
            short(&question.id).to_owned(),
            who(question),
            question.tool.clone(),
            format!("{}{missed}", when::ago(question.since, now)),
            question.why.clone(),
        ]);
    }
    table
}

fn answers(standing: &[StandingAnswer], now: u64) -> Table {
    let mut table = Table::new(&["ID", "WHAT", "COVERS", "FOR", "SINCE", "UNTIL"]);
    for answer in standing {
        table.add([
            short(&answer.id).to_owned(),
            answer.what.clone(),
            covers(answer),
            whose(answer),
            when::ago(answer.since, now),
            answer.until.map_or_else(|| "-".into(), |until| when::until(until, now)),
        ]);
    }
    table
}

fn show(client: &mut Client, id: &str, screen: &mut Screen) -> Result<(), Failure> {
    let approval_id = question(client, id)?.id;
    let answer = client.ask(&ApprovalsList { approval_id: Some(approval_id) }, QUICK)?;
    if screen.json {
        return Ok(screen.json(&answer.to_json())?);
    }
    let Some(question) = answer.waiting.first() else { return Err(gone(id)) };
    screen.prose(&about(question, when::now()))?;
    Ok(screen.text(&arguments(&answer))?)
}

/// All facts of a question but the arguments.
fn about(question: &Approval, now: u64) -> String {
    let waits = match &*question.state {
        MISSED => {
            "nobody waits for the answer any more: after a yes, the same call runs when it is repeated".into()
        }
        _ => format!("waits until {}", when::until(question.until, now)),
    };
    let chat = question.session_id.as_deref().map(|session| format!(", in session {}", short(session)));
    let mut lines = vec![
        ("question", flatten(&question.id)),
        ("who", format!("{}{}", who(question), flatten(&chat.unwrap_or_default()))),
        ("wants", wanted_of(question)),
        ("why", flatten(&question.why)),
    ];
    lines.extend(leaving(question).map(|text| ("leaves", text)));
    lines.extend((!question.private.is_empty()).then(|| ("private", names(&question.private))));
    lines.push(("asked", format!("{}; {waits}", when::ago(question.since, now))));
    lines.push(("yes for", offered(question).join(", ")));
    lines.iter().map(|(title, text)| format!("{title:<9}  {text}\n")).collect()
}

fn wanted_of(question: &Approval) -> String {
    match (&*question.who, &*question.reason) {
        ("server", _) | (_, "plan") => wanted(question),
        _ => format!("{}, which {}", wanted(question), flatten(&question.effect)),
    }
}

/// The arguments whole, with nothing hidden.
fn arguments(answer: &ApprovalsListResult) -> String {
    let whole = answer.arguments.as_ref().map_or("{}", |arguments| arguments.as_str());
    format!("arguments\n{}", inset(&reveal(&pretty(whole)), (4, 4), usize::MAX))
}

/// The question whose id begins like this.
fn question(client: &mut Client, typed: &str) -> Result<Approval, Failure> {
    let waiting = client.ask(&ApprovalsList { approval_id: None }, QUICK)?.into_value().waiting;
    let ids = waiting.iter().map(|question| question.id.clone());
    let id = meant(ids, typed, ("questions", "`harbor approvals`"))?;
    waiting.into_iter().find(|question| Some(&question.id) == id.as_ref()).ok_or_else(|| gone(typed))
}

fn gone(typed: &str) -> Failure {
    Failure::Nothing(format!("no question {typed} waits for an answer"), LISTED.into())
}

fn say_yes(client: &mut Client, yes: &Yes, screen: &mut Screen) -> Result<(), Failure> {
    let question = question(client, &yes.id)?;
    let word = yes.cover.word();
    if !question.answers.iter().any(|answer| answer == word) {
        return Err(Failure::Usage(format!(
            "a yes to this question cannot be for {}\nuse one of: {}",
            word.replace('_', "-"),
            offered(&question).join(", ")
        )));
    }
    let later = if &*question.state == MISSED { "; the call runs when it is repeated" } else { "" };
    let said = format!("yes to {}: {}{later}", flatten(&question.tool), covered_by(&question, word));
    answer(client, (&yes.id, &question), (word, None), &said, screen)
}

fn say_no(client: &mut Client, no: &No, screen: &mut Screen) -> Result<(), Failure> {
    let question = question(client, &no.id)?;
    if no.never && !question.answers.iter().any(|answer| answer == "never") {
        let wrong =
            "a no to this question cannot be for always\n`harbor approvals no ID` says no to this call";
        return Err(Failure::Usage(wrong.into()));
    }
    let (word, said) = if no.never { ("never", ", and never ask again") } else { ("no", "") };
    let reason = Some(no.reason.join(" ")).filter(|reason| !reason.is_empty());
    let said = format!("no to {}{said}", flatten(&question.tool));
    answer(client, (&no.id, &question), (word, reason), &said, screen)
}

fn answer(
    client: &mut Client,
    (typed, question): (&str, &Approval),
    (word, reason): (&str, Option<String>),
    said: &str,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let answer = ApprovalsAnswer { approval_id: question.id.clone(), answer: word.to_owned(), reason };
    let taken = client.ask(&answer, QUICK)?;
    match taken.answered {
        true => print(screen, &taken, |_| said.to_owned()),
        // Somebody else was faster, or its caller has left.
        false => Err(gone(typed)),
    }
}

fn revoke(client: &mut Client, wanted: &RevokeAnswer, screen: &mut Screen) -> Result<(), Failure> {
    let approval_id = wanted.what.as_deref().map(|typed| named(client, typed)).transpose()?;
    let answer = client.ask(&ApprovalsRevoke { approval_id }, QUICK)?;
    match &wanted.what {
        Some(typed) if answer.revoked == 0 => {
            Err(Failure::Nothing(format!("no answer stands for {typed}"), LISTED.into()))
        }
        _ => print(screen, &answer, |answer| taken_back(answer.revoked)),
    }
}

fn taken_back(revoked: u32) -> String {
    match revoked {
        0 => "no answer stood".into(),
        1 => "1 answer is revoked".into(),
        more => format!("{} are revoked", count(usize::try_from(more).unwrap_or(usize::MAX), "answer")),
    }
}

/// The name of the answer to take back. For a shortened id of an answer or a session, the whole id.
fn named(client: &mut Client, typed: &str) -> Result<String, Failure> {
    let standing = client.ask(&ApprovalsList { approval_id: None }, QUICK)?.into_value().standing;
    let is_name = |answer: &StandingAnswer| {
        let source = answer.what.split('/').next();
        answer.what == typed || answer.principal == typed || source == Some(typed)
    };
    if standing.iter().any(is_name) {
        return Ok(typed.to_owned());
    }
    let ids = standing.into_iter().flat_map(|answer| [Some(answer.id), answer.session_id]).flatten();
    // Several answers may be of one session.
    let ids: BTreeSet<_> = ids.collect();
    Ok(meant(ids, typed, ("answers or sessions", "`harbor approvals`"))?.unwrap_or_else(|| typed.to_owned()))
}

#[cfg(test)]
mod tests;
