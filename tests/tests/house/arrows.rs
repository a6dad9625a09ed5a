//! How the modules inside each room and crate depend on each other: down, and never in a circle.
//!
//! ```text
//!     room.rs ──┐             An *arrow* goes from a file to another one of its crate that defines what it imports.
//!      │   ▲    │             A *room* is a file with a directory of the same name. It has its own file and its children;
//!      ▼   ║    ▼             a child is a file or a room, which counts as one here and has its own row in the table.
//!     calls ──► types         An arrow belongs to the smallest room that both its ends are in.
//! ```
//!
//! - An *upward arrow* goes against the order of a room. The order is the one of its own file and its children that has the
//!   fewest arrows against it, so none is upward where everything can be laid out in floors. ║ is one: `calls` takes something
//!   that `room.rs` defines, and `room.rs` needs `calls`. It goes away when that thing moves down into `types`.
//! - A *circle* is several files each of which depends on every other one. An arrow from a file to the own file of a room that
//!   it stands in makes no circle: it may be an upward arrow.
//!
//! An arrow disappears by moving what it names into a lower file, never by making one file of two.

use std::collections::{BTreeMap, BTreeSet};

use super::imports::{Arrows, Place, arrows};
use super::tree::{Module, crates};

/// The upward arrows that stay: between which two, and the reason.
const UPWARD: &[(&str, &str, &str)] = &[
    (
        "bridge/src/host",
        "bridge/src/host/consent",
        "the host has the open questions, and a question is about a call that the host makes",
    ),
    (
        "bridge/src/host/source",
        "bridge/src/host/consent",
        "a source says what consent has to know of a call, and consent asks the source about its tools",
    ),
    (
        "bridge/src/link",
        "bridge/src/link/calls",
        "the guard of a call takes the call out of the link's table",
    ),
    ("bridge/src/link", "bridge/src/link/questions", "a question that is dropped is refused on its link"),
];

/// A room, and the arrows that belong to it, between its own file (the room's place) and its children.
#[derive(Default)]
struct Room {
    arrows: BTreeMap<(Place, Place), Vec<String>>,
    circles: usize,
}

/// The smallest room that both files are in, and whose they are in it.
fn common(from: &Place, to: &Place) -> (Place, Place, Place) {
    let same = from.iter().zip(to).take_while(|(a, b)| a == b).count();
    let child = |file: &Place| file[..file.len().min(same + 1)].to_vec();
    (from[..same].to_vec(), child(from), child(to))
}

fn rooms(arrows: &Arrows) -> BTreeMap<Place, Room> {
    let mut rooms: BTreeMap<Place, Room> = BTreeMap::new();
    for ((from, to), names) in arrows {
        let (room, a, b) = common(from, to);
        let names = names.iter().cloned().collect::<Vec<_>>().join(", ");
        let line = format!("{} → {}: {names}", from.join("/"), to.join("/"));
        rooms.entry(room).or_default().arrows.entry((a, b)).or_default().push(line);
    }
    rooms
}

/// Each group of several that depend on each other, directly or by way of others.
fn circles<'a>(arrows: impl Iterator<Item = &'a (Place, Place)> + Clone) -> Vec<Vec<&'a Place>> {
    let mut next: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (from, to) in arrows {
        next.entry(from).or_default().push(to);
    }
    let below = |start| {
        let (mut seen, mut todo) = (BTreeSet::new(), vec![start]);
        while let Some(one) = todo.pop() {
            let fresh = next.get(one).into_iter().flatten().filter(|other| seen.insert(**other));
            todo.extend(fresh.copied().collect::<Vec<_>>());
        }
        seen
    };
    let below: BTreeMap<_, _> = next.keys().map(|file| (*file, below(*file))).collect();
    let with = |file: &&'a Place| -> Vec<&'a Place> {
        let mutual = |other: &&&Place| below.get(**other).is_some_and(|all| all.contains(file));
        below[*file].iter().filter(mutual).copied().collect()
    };
    let groups: BTreeSet<_> = below.keys().map(with).filter(|group| group.len() > 1).collect();
    groups.into_iter().collect()
}

/// How many arrows go against an order, which is the highest first. Both name the members of a group by number.
fn against(order: &[usize], arrows: &[(usize, usize)]) -> usize {
    let mut floors = vec![0; order.len()];
    for (floor, member) in order.iter().enumerate() {
        floors[*member] = floor;
    }
    arrows.iter().filter(|(from, to)| floors[*from] > floors[*to]).count()
}

/// An order in which no other place of a single member is better.
fn improved(mut order: Vec<usize>, arrows: &[(usize, usize)]) -> Vec<usize> {
    let mut best = against(&order, arrows);
    loop {
        let before = best;
        for member in 0..order.len() {
            for floor in 0..order.len() {
                let mut tried = order.clone();
                tried.retain(|other| *other != member);
                tried.insert(floor, member);
                let count = against(&tried, arrows);
                if count < best {
                    (best, order) = (count, tried);
                }
            }
        }
        if best == before {
            return order;
        }
    }
}

/// The upward arrows of a room.
fn upward(room: &Room) -> Vec<&(Place, Place)> {
    let mut all = Vec::new();
    for group in circles(room.arrows.keys()) {
        let number = |place: &Place| group.iter().position(|member| *member == place);
        let numbers = |arrow: &(Place, Place)| Some((number(&arrow.0)?, number(&arrow.1)?));
        let arrows: Vec<_> = room.arrows.keys().filter_map(numbers).collect();
        // An improvement may end where only two moves together help, so there are several to begin with.
        let members: Vec<_> = (0..group.len()).collect();
        let begins =
            members.iter().step_by(1 + group.len() / 8).map(|at| [&members[*at..], &members[..*at]].concat());
        let both = begins.flat_map(|order| [order.iter().rev().copied().collect(), order]);
        let best = both.map(|order| improved(order, &arrows)).min_by_key(|order| against(order, &arrows));
        let order = best.unwrap_or_default();
        let floor = |number: usize| order.iter().position(|member| *member == number);
        let is_upward =
            |arrow: &&(Place, Place)| numbers(arrow).is_some_and(|(from, to)| floor(from) > floor(to));
        all.extend(room.arrows.keys().filter(is_upward));
    }
    all
}

/// The circles among the files of a crate.
fn file_circles(arrows: &Arrows) -> Vec<Vec<&Place>> {
    circles(arrows.keys().filter(|(from, to)| !from.starts_with(to)))
}

/// A place as a path from the top of the tree.
fn path(crate_: &str, place: &Place) -> String {
    [&[crate_.to_owned()][..], place].concat().join("/")
}

fn row(cells: [String; 5]) -> String {
    let [room, rest @ ..] = cells;
    format!("{room:44}{}\n", rest.map(|cell| format!("{cell:>9}")).concat())
}

fn modules_in(room: &Place, modules: &[Module]) -> usize {
    modules.iter().filter(|module| module.path.starts_with(room)).count()
}

#[test]
fn arrows_go_down_and_never_in_a_circle() {
    let mut table = row(["room", "modules", "arrows", "upward", "circles"].map(str::to_owned));
    let (mut others, mut circles, mut known) = (Vec::new(), Vec::new(), BTreeSet::new());
    for (crate_, modules) in crates() {
        let arrows = arrows(&modules);
        let mut rooms = rooms(&arrows);
        for circle in file_circles(&arrows) {
            let top = circle.iter().skip(1).fold(circle[0].clone(), |top, file| common(&top, file).0);
            rooms.entry(top).or_default().circles += 1;
            let files: Vec<_> = circle.iter().map(|file| path(crate_, file)).collect();
            circles.push(files.join(", "));
        }
        for (place, room) in &rooms {
            let up = upward(room);
            let name = path(crate_, place);
            let numbers = [modules_in(place, &modules), room.arrows.len(), up.len(), room.circles];
            let [modules, arrows, upward, circles] = numbers.map(|number| number.to_string());
            table += &row([name.clone(), modules, arrows, upward, circles]);
            for arrow in up {
                let [from, to] = [&arrow.0, &arrow.1].map(|end| path(crate_, end));
                let ends = |(a, b, _): &&(&str, &str, &str)| [[*a, *b], [*b, *a]].contains(&[&*from, &*to]);
                match UPWARD.iter().find(ends) {
                    Some((a, b, _)) => drop(known.insert([*a, *b])),
                    None => others.push(format!("{name}: {}", room.arrows[arrow].join("; "))),
                }
            }
        }
    }
    println!("{table}");
    assert!(circles.is_empty(), "circles:\n{}", circles.join("\n"));
    assert!(others.is_empty(), "upward arrows without a reason:\n{}", others.join("\n"));
    let gone: Vec<_> = UPWARD.iter().filter(|(a, b, _)| !known.contains(&[*a, *b])).collect();
    assert!(gone.is_empty(), "these are no upward arrows any more: {gone:?}");
}
