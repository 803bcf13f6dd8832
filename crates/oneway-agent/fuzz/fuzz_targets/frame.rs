//! Any bytes, as if a neighbour had sent them: they are a frame or a fault, a row of the right width or a
//! reason. Never a panic, and no allocation beyond a row.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use oneway::codec::CODECS;
use oneway::method::Method;
use oneway::methods::combine::{Compression, Recipe};
use oneway::methods::kind;
use oneway::problem::Problem;
use oneway::problems::{Quadratic, QuadraticShape};
use oneway_agent::wire::frame::{self, Content};
use oneway_agent::wire::message::Message;
use oneway_agent::wire::rows::Rows;

/// Numbers in a vector.
const DIM: usize = 5;

/// What agents may expect: rows as they are, and rows by every codec.
static EXPECTED: LazyLock<Vec<Rows>> = LazyLock::new(|| {
    let shape = QuadraticShape { dim: DIM, curvature: [0.5, 1.0], heterogeneity: 1.0, noise: 0.0 };
    let problem = Quadratic::new(shape, 3, 1).expect("a small quadratic");
    let plain = Recipe::new(kind("smtpp").expect("SMTPP"), []).expect("its defaults");
    let coded = CODECS.iter().filter_map(|codec| {
        let compression = Some(Compression::new(codec, []).ok()?);
        Recipe { compression, ..plain.clone() }.build().ok()
    });
    let methods = [plain.build().expect("SMTPP")].into_iter().chain(coded);
    methods.map(|method| rows(&*method, &problem)).collect()
});

fn rows(method: &dyn Method, problem: &dyn Problem) -> Rows {
    let profile = method.profile_on(problem);
    let [_, pull, push] = profile.widths(problem.dim());
    Rows { widths: [pull, push], phases: profile.phases(), wire: profile.wire }
}

fn read(bytes: &[u8]) {
    if let Ok(message) = Message::decode(bytes) {
        assert_eq!(message.encode(), bytes, "a message has one encoding");
    }
    let Ok(frame) = frame::decode(bytes) else { return };
    let size = match frame.content {
        Content::Numbers(precision, row) => frame::size(row.len() / precision.bytes(), precision),
        Content::Coded { bytes, .. } => frame::size_of_code(bytes.len()),
    };
    assert_eq!(size, bytes.len(), "a frame is what its head says");
    for rows in &*EXPECTED {
        let width = rows.widths[frame.head.graph as usize];
        if let Ok(row) = rows.read(&frame, Vec::<f64>::new()) {
            assert_eq!(row.len(), width);
        }
        if let Ok(row) = rows.read(&frame, Vec::<f32>::new()) {
            assert_eq!(row.len(), width);
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    read(bytes);
    // the same with a beginning and a checksum that fit gets further
    if let Some((begin, rest)) = bytes.split_at_checked(5) {
        let mut sealed = [b"1WAY", &[frame::VERSION][..], rest].concat();
        sealed.extend_from_slice(&crc32fast::hash(&sealed).to_le_bytes());
        read(&sealed);
        // and with the length that it has
        if sealed.len() >= frame::HEAD + 4 {
            let content = sealed.len() - frame::HEAD - 4;
            let (encoding, unit) = [(0, 8), (1, 1), (2, 4)][usize::from(begin[0] % 3)];
            sealed.truncate(frame::HEAD + content / unit * unit);
            sealed[6] = encoding;
            sealed[7] = 0;
            sealed[frame::HEAD - 4..frame::HEAD].copy_from_slice(&((content / unit) as u32).to_le_bytes());
            sealed.extend_from_slice(&crc32fast::hash(&sealed).to_le_bytes());
            read(&sealed);
        }
    }
});
