//! Figures out of figures. Pure.

/// The middle value; the upper one of two. Zero of none.
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}

/// The smallest value. Zero of none.
pub fn least(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().min_by(f64::total_cmp).unwrap_or(0.0)
}

/// The largest value. Zero of none.
pub fn most(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().max_by(f64::total_cmp).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_does_not_matter() {
        let values = [3.0, 1.0, 2.0, 5.0, 4.0];
        assert_eq!((median(values), least(values), most(values)), (3.0, 1.0, 5.0));
        assert_eq!((median([]), least([]), most([])), (0.0, 0.0, 0.0));
    }
}
