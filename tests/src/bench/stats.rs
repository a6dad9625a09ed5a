//! Figures out of figures. Pure.

/// The middle value; the upper one of two. Zero of none.
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}

/// The least value that so large a part of all does not exceed: 0.99 for p99. Zero of none.
pub fn percentile(values: impl IntoIterator<Item = f64>, part: f64) -> f64 {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    // A part of a length fits.
    let rank = (part * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
}

/// The smallest value. Zero of none.
pub fn least(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().min_by(f64::total_cmp).unwrap_or(0.0)
}

/// The largest value. Zero of none.
pub fn most(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().max_by(f64::total_cmp).unwrap_or(0.0)
}

/// How much y rises with each x, by the line with the least squares. Zero of fewer than two x.
pub fn slope(points: impl IntoIterator<Item = (f64, f64)>) -> f64 {
    let points: Vec<_> = points.into_iter().collect();
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x_mean, y_mean) = (mean(|point| point.0), mean(|point| point.1));
    let both: f64 = points.iter().map(|(x, y)| (x - x_mean) * (y - y_mean)).sum();
    let square: f64 = points.iter().map(|(x, _)| (x - x_mean).powi(2)).sum();
    if square > 0.0 { both / square } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_does_not_matter() {
        let values = [3.0, 1.0, 2.0, 5.0, 4.0];
        assert_eq!((median(values), least(values), most(values)), (3.0, 1.0, 5.0));
        assert_eq!((percentile(values, 0.5), percentile(values, 0.99)), (3.0, 5.0));
        assert_eq!(percentile((1..=200).map(f64::from), 0.99), 198.0);
        assert_eq!(percentile([], 0.99), 0.0);
        assert_eq!((median([]), least([]), most([])), (0.0, 0.0, 0.0));
    }

    #[test]
    fn a_slope_is_that_of_the_line_through_the_points() {
        assert_eq!(slope([(1.0, 10.0), (2.0, 12.0), (3.0, 14.0)]), 2.0);
        assert_eq!(slope([(0.0, 0.0), (1.0, 3.0), (2.0, 0.0)]), 0.0);
        assert_eq!((slope([]), slope([(1.0, 5.0)]), slope([(1.0, 5.0), (1.0, 6.0)])), (0.0, 0.0, 0.0));
    }
}
