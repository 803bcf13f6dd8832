#!/usr/bin/env bash
# Makes the font files of this folder from the Debian packages; see README.md. Run it here.
set -euo pipefail

inter=${INTER:-$(dirname "$(dpkg -L fonts-inter | grep Inter-Regular.otf)")}
dejavu=${DEJAVU:-$(dirname "$(dpkg -L fonts-dejavu-core | grep DejaVuSans.ttf)")}

# Latin, combining marks, Greek, punctuation, superscripts and subscripts, arrows, mathematical signs
letters="U+0020-007E,U+00A0-00FF,U+0131,U+0152-0153,U+0160-0161,U+017D-017E,U+0300-0304,U+0307-0308,\
U+0391-03A9,U+03B1-03C9,U+03D1,U+03D5,U+03F5,U+1D62-1D65,U+200A,U+2010-2016,U+2018-201E,U+2020-2022,U+2026,U+2030,\
U+2032-2033,U+203E,U+2044,U+2070-2071,U+2074-208E,U+2090-209C,U+2113,U+2190-2193,U+21A6,U+2202,U+2206,U+220F,\
U+2211-2212,U+2215,U+221A,U+221E,U+222B,U+2248,U+2260,U+2264-2265"
for weight in Regular SemiBold; do
    pyftsubset "$inter/Inter-$weight.otf" --unicodes="$letters" --layout-features=kern,mark,ccmp,locl \
        --name-IDs=0,1,2,3,4,5,6,13,14,16,17 \
        --no-hinting --output-file="Inter-$weight-subset.otf"
done

# What Inter lacks: ∇ ∈ ∝ ᵀ ∥ ⟨ ⟩ and their like
pyftsubset "$dejavu/DejaVuSans.ttf" --layout-features= --no-hinting --output-file=DejaVuSans-subset.ttf \
    --unicodes="U+1D40,U+2102,U+211D,U+2200,U+2203,U+2207-2209,U+221D,U+2225,U+2229-222A,U+2297,U+2299,U+22A4,U+22C5,U+27E8-27E9"
