//! The table's columns, and which of them a screen has room for.
//!
//! Owns their widths and the order in which they give way. The name and the graph share what the others leave.

use super::super::facts::Server;
use super::super::history::bars;
use super::super::row::TextStyle;
use super::super::words::{mib, millis, or_none, percent, places, rate};

/// The widest graph: a minute and a half.
const WIDEST_GRAPH: usize = 90;

/// The facts of each server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    Name,
    Label,
    State,
    Rate,
    Open,
    Now,
    P50,
    P99,
    Graph,
    Memory,
    Processor,
    Restarts,
}

impl Column {
    /// All columns, from the left.
    const ALL: [Self; 12] = [
        Self::Name,
        Self::Label,
        Self::State,
        Self::Rate,
        Self::Open,
        Self::Now,
        Self::P50,
        Self::P99,
        Self::Graph,
        Self::Memory,
        Self::Processor,
        Self::Restarts,
    ];

    /// The columns that a narrow screen leaves out, the first one first.
    const GIVE_WAY: [Self; 11] = [
        Self::Label,
        Self::Now,
        Self::Processor,
        Self::P99,
        Self::P50,
        Self::Open,
        Self::Restarts,
        Self::Graph,
        Self::Memory,
        Self::Rate,
        Self::State,
    ];

    pub fn title(self) -> &'static str {
        match self {
            Self::Name => "SERVER",
            Self::Label => "LABEL",
            Self::State => "STATE",
            Self::Rate => "CALLS/S",
            Self::Open => "OPEN",
            Self::Now => "MS NOW",
            Self::P50 => "P50 MS",
            Self::P99 => "P99 MS",
            Self::Graph => "LATENCY",
            Self::Memory => "MEM MIB",
            Self::Processor => "CPU %",
            Self::Restarts => "RESTARTS",
        }
    }

    /// The least that it needs.
    fn width(self) -> usize {
        match self {
            Self::Name => 10,
            Self::Label => 16,
            Self::State => 15,
            Self::Open => 4,
            Self::Rate | Self::Memory | Self::Graph => 7,
            Self::Now | Self::P50 | Self::P99 | Self::Processor => 6,
            Self::Restarts => 8,
        }
    }

    pub fn tone(self) -> TextStyle {
        match self {
            Self::Name => TextStyle::Strong,
            Self::Graph => TextStyle::Waiting,
            _ => TextStyle::Plain,
        }
    }

    /// The text at its side of the column: words left, numbers right.
    pub fn align(self, text: &str, width: usize) -> String {
        let blank = " ".repeat(width.saturating_sub(places(text)));
        match self {
            Self::Name | Self::Label | Self::State | Self::Graph => text.into(),
            _ => format!("{blank}{text}"),
        }
    }

    /// The text of a cell. A state's text depends on the time.
    pub fn cell(self, server: &Server, width: usize) -> String {
        match self {
            Self::Name => server.id.clone(),
            Self::Label => server.label.clone(),
            Self::State => server.shown.clone(),
            Self::Rate => or_none(server.history.rate(), rate),
            Self::Open => server.in_flight.to_string(),
            Self::Now => or_none(server.history.mean(), millis),
            Self::P50 => or_none(server.p50, millis),
            Self::P99 => or_none(server.p99, millis),
            // The newest at the right edge, where it stays as the graph grows.
            Self::Graph => format!("{:>width$}", bars(&server.history.means(width))),
            Self::Memory => or_none(server.memory, mib),
            Self::Processor => or_none(server.cpu_permille, percent),
            Self::Restarts => server.restarts.to_string(),
        }
    }
}

/// The columns that fit into `width` places behind a mark, with their widths.
pub fn layout(width: usize, servers: &[&Server]) -> Vec<(Column, usize)> {
    let labelled = servers.iter().any(|server| !server.label.is_empty());
    let mut columns: Vec<_> = Column::ALL.to_vec();
    let room = width.saturating_sub(1);
    let needed = |columns: &[Column]| columns.iter().map(|column| column.width() + 1).sum::<usize>();
    for column in Column::GIVE_WAY {
        let unused = column == Column::Label && !labelled;
        if unused || needed(&columns) > room + 1 {
            columns.retain(|other| *other != column);
        }
    }
    let mut spare = (room + 1).saturating_sub(needed(&columns));
    let longest = servers.iter().map(|server| places(&server.id)).max().unwrap_or_default();
    let has_graph = columns.contains(&Column::Graph);
    let mut wide = |column: Column| {
        let wanted = match column {
            // A long name may have half of it; the graph lives on the rest.
            Column::Name if has_graph => longest.saturating_sub(column.width()).min(spare.div_ceil(2)),
            Column::Name => longest.saturating_sub(column.width()),
            Column::Graph => WIDEST_GRAPH - column.width(),
            _ => 0,
        };
        let more = wanted.min(spare);
        spare -= more;
        (column, column.width() + more)
    };
    let mut widths: Vec<_> = columns.into_iter().map(&mut wide).collect();
    if let [(Column::Name, name)] = widths.as_mut_slice() {
        *name = room;
    }
    widths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(width: usize, id: &str) -> String {
        let server = Server { id: id.into(), ..Server::default() };
        let columns = layout(width, &[&server]);
        let total: usize = columns.iter().map(|(_, width)| width + 1).sum();
        assert!(total <= width.max(11), "{width}: {columns:?}");
        columns
            .iter()
            .map(|(column, width)| format!("{} {width}", column.title()))
            .collect::<Vec<_>>()
            .join(", ")
    }

    #[test]
    fn columns_give_way_in_their_order() {
        assert_eq!(
            titles(80, "time"),
            "SERVER 10, STATE 15, CALLS/S 7, OPEN 4, P50 MS 6, P99 MS 6, LATENCY 8, MEM MIB 7, RESTARTS 8"
        );
        assert_eq!(titles(60, "time"), "SERVER 10, STATE 15, CALLS/S 7, LATENCY 7, MEM MIB 7, RESTARTS 8");
        assert_eq!(titles(35, "time"), "SERVER 10, STATE 15, CALLS/S 7");
        assert_eq!(titles(33, "time"), "SERVER 10, STATE 15");
        assert_eq!((titles(12, "time"), titles(1, "time")), ("SERVER 11".into(), "SERVER 0".into()));
        let wide = titles(160, "a-server-with-a-long-name");
        assert!(
            wide.starts_with("SERVER 25, STATE 15, CALLS/S 7, OPEN 4, MS NOW 6, P50 MS 6, P99 MS 6, LATENCY"),
            "{wide}"
        );
    }
}
