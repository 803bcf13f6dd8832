//! Student's t: how far a mean, or a slope, may stray by chance.

/// The t that is exceeded with chance `tail` ∈ (0, ½) by Student's t with ν ≥ 1 degrees of freedom. Bisection
/// on the tail.
///
/// ```
/// // a 95 % interval of five values is their mean ± 2.776 standard errors, not ± 2
/// assert!((oneway::numeric::student::quantile(0.025, 4.0) - 2.776445).abs() < 1e-6);
/// ```
pub fn quantile(tail: f64, ν: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while upper_tail(high, ν) > tail && high < 1e150 {
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        *(if upper_tail(middle, ν) > tail { &mut low } else { &mut high }) = middle;
    }
    high
}

/// P(T > t) = ½ I_{ν/(ν+t²)}(ν/2, ½) for t ≥ 0 and ν > 0 degrees of freedom, which may be a fraction.
///
/// ```
/// let p = 2.0 * oneway::numeric::student::upper_tail(2.776445, 4.0);
/// assert!((p - 0.05).abs() < 1e-6); // a difference of 2.776 standard errors of five values
/// ```
pub fn upper_tail(t: f64, ν: f64) -> f64 {
    0.5 * incomplete_beta(0.5 * ν, 0.5, ν / (ν + t * t))
}

/// I_x(a, b), the regularised incomplete beta function, by its continued fraction (Lentz).
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(b, a, 1.0 - x); // where the fraction converges fast
    }
    let gamma = |x: f64| libm::lgamma(x);
    let front = gamma(a + b) - gamma(a) - gamma(b) + a * libm::log(x) + b * libm::log1p(-x);
    let (mut fraction, mut c, mut d) = (1.0, 1.0, 0.0);
    for step in 0..1000 {
        let m = f64::from(step / 2);
        let numerator = match step {
            0 => 1.0,
            odd if odd % 2 == 1 => -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
            _ => m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
        };
        let away_from_zero = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
        d = 1.0 / away_from_zero(1.0 + numerator * d);
        c = away_from_zero(1.0 + numerator / c);
        fraction *= c * d;
        if (c * d - 1.0).abs() < 1e-15 {
            break;
        }
    }
    libm::exp(front) * (fraction - 1.0) / a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (tail, ν, expected) in [
            (0.025, 1.0, 12.706204736),
            (0.025, 4.0, 2.776445105),
            (0.025, 10.0, 2.228138852),
            (0.005, 30.0, 2.749995654),
            (0.0005, 100.0, 3.390491311),
            (0.025, 1e6, 1.959966),
        ] {
            let t = quantile(tail, ν);
            assert!((t / expected - 1.0).abs() < 1e-6, "{tail} {ν}: {t} {expected}");
        }
        // ν = 1 is Cauchy's: tan(π(½ − tail))
        let cauchy = quantile(1e-6, 1.0);
        assert!((cauchy * std::f64::consts::PI * 1e-6 - 1.0).abs() < 1e-6, "{cauchy}");
    }
}
