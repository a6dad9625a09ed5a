//! All grants against a naive model of them, and the laws of time, for any sequence of events.

use proptest::prelude::*;

use super::*;

const TOOLS: [(&str, &str); 3] = [("a", "x"), ("a", "y"), ("b", "x")];

fn keys() -> [Key; 4] {
    let [one, two] = [key("one"), key("two")];
    let profile = profile("other").unwrap();
    [one.clone(), two, Key { profile, ..one.clone() }, Key { scope: Scope::WebFetch, ..one }]
}

fn tabs() -> [Option<Tab>; 4] {
    [None, Some(tab("s", 1)), Some(tab("s", 2)), Some(tab("t", 1))]
}

#[derive(Debug, Clone)]
enum Step {
    Put(Key, NewGrant, u64),
    Revoke(Key, Option<GrantType>),
    EndTab(u64, Option<&'static str>),
    EndSession(&'static str),
    Expire,
    Nothing,
}

fn grant_type() -> impl Strategy<Value = GrantType> {
    prop_oneof![
        6 => Just(GrantType::AllowOnce),
        2 => Just(GrantType::AllowAlways),
        1 => Just(GrantType::Deny),
    ]
}

/// Any combination at all, of which some are refused; `wall` is any time at all.
fn put() -> impl Strategy<Value = Step> {
    let lists = [None, list(&[]), list(&["a/x"]), list(&["a/*"]), list(&["a/y", "b/x"])];
    let lifetime = prop_oneof![1 => Just(None), 4 => (0u64..30).prop_map(Some), 1 => Just(Some(u64::MAX))];
    let parts = (
        prop::sample::select(keys().to_vec()),
        grant_type(),
        prop::sample::select(lists.to_vec()),
        prop::sample::select(tabs().to_vec()),
        lifetime,
        any::<u64>(),
    );
    parts.prop_map(|(key, grant_type, tools, tab, lifetime_ms, wall)| {
        let is_once = grant_type == GrantType::AllowOnce;
        let (tab, lifetime_ms) = (tab.filter(|_| is_once), lifetime_ms.filter(|_| is_once));
        Step::Put(key, NewGrant { grant_type, tools, tab, lifetime_ms }, wall)
    })
}

fn step() -> impl Strategy<Value = Step> {
    let session = prop::sample::select(vec!["s", "t", "u"]);
    prop_oneof![
        8 => put(),
        2 => (prop::sample::select(keys().to_vec()), prop::option::of(grant_type()))
            .prop_map(|(key, grant_type)| Step::Revoke(key, grant_type)),
        1 => (0u64..3, prop::option::of(session.clone())).prop_map(|(tab, session)| Step::EndTab(tab, session)),
        1 => session.prop_map(Step::EndSession),
        2 => Just(Step::Expire),
        2 => Just(Step::Nothing),
    ]
}

/// Mostly on by a little, sometimes far, sometimes back.
fn times() -> impl Strategy<Value = Vec<(Step, i64)>> {
    let jump = prop_oneof![12 => 0i64..8, 1 => -40i64..0, 1 => 0i64..1000];
    prop::collection::vec((step(), jump), 1..60)
}

/// All grants in one list that is gone through for everything.
#[derive(Debug, Default)]
struct Model {
    grants: Vec<(Key, NewGrant, u64)>,
}

impl Model {
    fn step(&mut self, step: &Step, now: u64) {
        self.grants.retain(|(_, _, end)| *end == u64::MAX || *end > now);
        match step {
            Step::Put(key, new, _) => {
                let is_once = new.grant_type == GrantType::AllowOnce;
                let lifetime = new.lifetime_ms.unwrap_or(0);
                if is_once && lifetime == 0 || new.grant_type == GrantType::Deny && new.tools.is_some() {
                    return;
                }
                self.grants.retain(|(of, old, _)| {
                    of != key || old.grant_type != new.grant_type || old.tab != new.tab
                });
                let end = if is_once { now.saturating_add(lifetime) } else { u64::MAX };
                self.grants.push((key.clone(), new.clone(), end));
            }
            Step::Revoke(key, wanted) => self
                .grants
                .retain(|(of, old, _)| of != key || wanted.is_some_and(|wanted| wanted != old.grant_type)),
            Step::EndTab(tab, session) => self.grants.retain(|(_, old, _)| {
                let is_it =
                    |of: &Tab| of.tab == *tab && session.is_none_or(|session| *session == *of.session);
                !old.tab.as_ref().is_some_and(is_it)
            }),
            Step::EndSession(session) => {
                self.grants.retain(|(_, old, _)| old.tab.as_ref().is_none_or(|of| *session != &*of.session))
            }
            Step::Expire | Step::Nothing => {}
        }
    }

    fn check(&self, key: &Key, tab: Option<&Tab>, tool: Option<(&str, &str)>) -> &'static str {
        let of_key: Vec<_> = self.grants.iter().filter(|(of, ..)| of == key).map(|(_, new, _)| new).collect();
        if of_key.iter().any(|new| new.grant_type == GrantType::Deny) {
            return "denied";
        }
        let valid: Vec<_> =
            of_key.into_iter().filter(|new| new.tab.is_none() || new.tab.as_ref() == tab).collect();
        let covers = |new: &&NewGrant| match (tool, &new.tools) {
            (None, _) | (_, None) => true,
            (Some((server, tool)), Some(list)) => {
                let entries = list.entries();
                entries.contains(&format!("{server}/{tool}")) || entries.contains(&format!("{server}/*"))
            }
        };
        match (valid.is_empty(), valid.iter().any(covers)) {
            (true, _) => "scope required",
            (_, true) => "granted",
            (_, false) => "tool not allowed",
        }
    }
}

fn perform(grants: &mut Grants, step: Step, now: u64) -> usize {
    match step {
        Step::Put(key, new, wall) => drop(grants.put(key, new, wall, now)),
        Step::Revoke(key, grant_type) => return grants.revoke(&key, grant_type, None).len(),
        Step::EndTab(tab, session) => return grants.end_tab(tab, session, None).len(),
        Step::EndSession(session) => return grants.end_session(session).len(),
        Step::Expire => return grants.expire(now).len(),
        Step::Nothing => {}
    }
    0
}

fn verdict(
    grants: &mut Grants,
    key: &Key,
    tab: Option<&Tab>,
    tool: Option<(&str, &str)>,
    now: u64,
) -> &'static str {
    let tool = tool.map(|(server, tool)| (id(server), tool));
    match grants.check(key, tab, tool.as_ref().map(|(server, tool)| (server, *tool)), now) {
        Verdict::Granted(_) => "granted",
        Verdict::Denied => "denied",
        Verdict::ToolNotAllowed => "tool not allowed",
        Verdict::ScopeRequired { .. } => "scope required",
    }
}

/// What is kept is in its order, and every deadline is known.
fn is_sound(grants: &Grants) -> bool {
    let due: BTreeSet<_> = grants.all().filter_map(|(key, grant)| Due::of(key, grant)).collect();
    let place = |(key, grant): &(Key, Grant)| (key.clone(), grant.grant_type, grant.tab.clone());
    let sorted = |kept: &Vec<(Key, Grant)>| !kept.is_empty() && kept.is_sorted_by(|a, b| place(a) < place(b));
    due == grants.due && grants.by_origin.values().all(sorted)
}

proptest! {
    /// A DENY wins until it is revoked; nothing passes without a grant that is valid at that instant for that tab
    /// and tool; neither the wall clock nor a time that goes back changes that; a view says the same.
    #[test]
    fn every_verdict_is_that_of_the_naive_model(steps in times()) {
        let (mut grants, mut model, mut now) = (Grants::default(), Model::default(), 1000u64);
        for (step, jump) in steps {
            now = now.saturating_add_signed(jump);
            model.step(&step, now);
            perform(&mut grants, step, now);
            for (key, tab) in keys().iter().flat_map(|key| tabs().map(|tab| (key, tab))) {
                let view = grants.view(key, tab.as_ref(), now);
                let said = verdict(&mut grants, key, tab.as_ref(), None, now);
                prop_assert_eq!(said, model.check(key, tab.as_ref(), None), "{:?} {:?}", key, tab);
                prop_assert_eq!((view.denied(), view.any()), (said == "denied", said == "granted"));
                for tool in TOOLS {
                    let said = verdict(&mut grants, key, tab.as_ref(), Some(tool), now);
                    prop_assert_eq!(said, model.check(key, tab.as_ref(), Some(tool)), "{:?} {:?}", key, tool);
                    prop_assert_eq!(view.of_source(&id(tool.0)).covers(tool.1), said == "granted");
                }
            }
            prop_assert!(is_sound(&grants));
            prop_assert_eq!(grants.len(), model.grants.len());
        }
    }

    /// What is put comes back once: replaced, asked for, told by `expire`, or still there.
    #[test]
    fn every_end_is_told_exactly_once(steps in times()) {
        let (mut grants, mut now, mut made, mut told) = (Grants::default(), 1000u64, 0, 0);
        for (step, jump) in steps {
            now = now.saturating_add_signed(jump);
            let before = grants.len() + grants.ended.len();
            let is_put = matches!(step, Step::Put(..));
            told += perform(&mut grants, step, now);
            if is_put {
                made += grants.len() + grants.ended.len() - before;
            }
            prop_assert_eq!(made, told + grants.len() + grants.ended.len());
        }
        told += grants.expire(now).len();
        prop_assert_eq!(made, told + grants.len());
        prop_assert!(grants.next_deadline().is_none_or(|deadline| deadline > now));
    }

    #[test]
    fn a_grant_is_valid_until_its_deadline_and_not_at_it(
        now in any::<u64>(), lifetime in 1u64..=u64::MAX, wall in any::<u64>(), asked in any::<u64>(),
    ) {
        let (mut grants, key) = (Grants::default(), key("a"));
        grants.put(key.clone(), once(lifetime), wall, now).unwrap();
        let end = now.saturating_add(lifetime);
        prop_assert_eq!(grants.next_deadline(), Some(end));
        for at in [asked.min(end - 1), end - 1] {
            prop_assert_eq!(word(&mut grants, &key, None, NOW, at), "ALLOW_ONCE");
        }
        prop_assert_eq!(word(&mut grants, &key, None, NOW, end), "expired");
        prop_assert_eq!(word(&mut grants, &key, None, NOW, asked), "expired", "nothing comes back");
    }
}
