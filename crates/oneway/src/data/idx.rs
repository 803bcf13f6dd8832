//! Images and labels in the IDX format of MNIST, and of what came after it in its form: Fashion-MNIST, KMNIST
//! and others.
//!
//! A folder has four files, plain or compressed by gzip: `train-images-idx3-ubyte`,
//! `train-labels-idx1-ubyte`, and the same with `t10k` for what is held out. An IDX file is a header of
//! big-endian 32-bit words and then bytes:
//!
//! ```text
//! images   0x00000803  count  rows  columns   then count·rows·columns bytes, 0 (background) to 255
//! labels   0x00000801  count                  then count bytes
//! ```
//!
//! The header is not believed: memory is taken as bytes arrive, and what is more or less than it says is
//! refused.

use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;

use super::{Dataset, SparseRows, Split};
use crate::{Error, Result, input};

/// Where Debian's package `dataset-fashion-mnist` puts its files.
pub const FASHION_MNIST: &str = "/usr/share/datasets/fashion-mnist";

const IMAGES: u32 = 0x0803;
const LABELS: u32 = 0x0801;

/// Most pixels of an image, 256 × 256, and of all, five times Fashion-MNIST's: a few megabytes can claim to
/// be any number of them, compressed.
const MOST_PIXELS: u64 = 1 << 16;
const MOST_IN_ALL: u64 = 1 << 28;

/// Reads one split of a folder. A value is a pixel's byte over 255, a label is the byte of its class.
///
/// # Errors
/// A file that is missing, [`Error::Io`]; one that is not what its header says, or whose header is not IDX's,
/// [`Error::File`].
pub fn read(folder: &Path, split: Split) -> Result<Dataset> {
    let part = match split {
        Split::Train => "train",
        Split::Test => "t10k",
    };
    let [images, labels] =
        ["images-idx3-ubyte", "labels-idx1-ubyte"].map(|kind| find(folder, &format!("{part}-{kind}")));
    parse((open(&images)?, &images), (open(&labels)?, &labels))
}

/// Whether a folder has MNIST's files, as far as the first of them tells.
pub fn is_there(folder: &Path) -> bool {
    find(folder, "train-images-idx3-ubyte").is_file()
}

/// Fashion-MNIST from Debian's package: 60,000 images of 28×28 pixels to learn from and 10,000 held out, ten
/// classes of clothes (Xiao, Rasul and Vollgraf 2017).
///
/// # Errors
/// As [`read`]; where it is missing the message names the package.
pub fn fashion_mnist(split: Split) -> Result<Dataset> {
    let folder = Path::new(FASHION_MNIST);
    if !is_there(folder) {
        let message =
            "Fashion-MNIST is not there: install Debian's package `dataset-fashion-mnist`, or give the path \
                       of a folder with its four files as the dataset"
                .to_owned();
        return Err(Error::File { path: folder.to_owned(), message });
    }
    read(folder, split)
}

/// The file itself if it is there, else its compressed form.
fn find(folder: &Path, name: &str) -> PathBuf {
    let plain = folder.join(name);
    match plain.is_file() {
        true => plain,
        false => folder.join(format!("{name}.gz")),
    }
}

fn open(path: &Path) -> Result<Box<dyn Read>> {
    let file = BufReader::new(input::open(path, "an IDX file")?);
    Ok(match path.extension().is_some_and(|extension| extension == "gz") {
        true => Box::new(MultiGzDecoder::new(file)),
        false => Box::new(file),
    })
}

/// Reads images and their labels; the paths only serve to name the sources in errors.
pub fn parse(images: (impl Read, &Path), labels: (impl Read, &Path)) -> Result<Dataset> {
    let (mut images, mut labels) = (Source::new(images.0, images.1), Source::new(labels.0, labels.1));
    let [count, height, width] = images.header(IMAGES)?;
    let [labelled] = labels.header(LABELS)?;
    if labelled != count {
        return labels.wrong(format!(
            "has {labelled} labels, but there are {count} images: give files that go together"
        ));
    }
    let pixels = u64::from(height) * u64::from(width);
    let in_all = pixels.saturating_mul(u64::from(count));
    if count == 0 || pixels == 0 || pixels > MOST_PIXELS || in_all > MOST_IN_ALL {
        return images.wrong(format!(
            "claims to hold {count} images of {height}×{width} pixels: one at least, of 1 to {MOST_PIXELS} pixels, and at most \
             {MOST_IN_ALL} pixels in all, can be read"
        ));
    }
    let (mut rows, mut image) = (SparseRows::new(), vec![]);
    for read in 0..count {
        if !images.fill(pixels, &mut image)? {
            return images.wrong(format!("ends after {read} of {count} images: it is cut off"));
        }
        let shares = (0..).zip(image.iter().map(|byte| f64::from(*byte) / 255.0));
        rows.push(shares.filter(|(_, share)| *share > 0.0));
    }
    images.end()?;
    let mut bytes = vec![];
    if !labels.fill(u64::from(count), &mut bytes)? {
        return labels.wrong(format!("ends after {} of {count} labels: it is cut off", bytes.len()));
    }
    labels.end()?;
    let labels = bytes.into_iter().map(f64::from).collect();
    Ok(Dataset { features: pixels as usize, labels, rows })
}

/// Bytes with a name.
struct Source<'a, R> {
    bytes: R,
    path: &'a Path,
}

impl<'a, R: Read> Source<'a, R> {
    fn new(bytes: R, path: &'a Path) -> Self {
        Self { bytes, path }
    }

    fn wrong<T>(&self, message: String) -> Result<T> {
        Err(Error::File { path: self.path.to_owned(), message })
    }

    /// Reads `count` bytes in place of what `bytes` holds; says whether there were as many.
    fn fill(&mut self, count: u64, bytes: &mut Vec<u8>) -> Result<bool> {
        bytes.clear();
        let read = (&mut self.bytes).take(count).read_to_end(bytes);
        read.map_err(|source| Error::Io { path: self.path.to_owned(), source })?;
        Ok(bytes.len() as u64 == count)
    }

    /// The sizes after the magic number, which must be this.
    fn header<const D: usize>(&mut self, magic: u32) -> Result<[u32; D]> {
        let mut header = vec![];
        let whole = self.fill(4 * (1 + D as u64), &mut header)?;
        let (words, _) = header.as_chunks::<4>();
        let mut words = words.iter().map(|word| u32::from_be_bytes(*word));
        match words.next() {
            Some(found) if found != magic => self.wrong(format!(
                "begins with {found:#010x}, not {magic:#010x}: it is no IDX file of bytes in {D} dimension{}",
                if D == 1 { "" } else { "s" }
            )),
            Some(_) if whole => Ok(std::array::from_fn(|_| words.next().unwrap_or(0))),
            _ => self.wrong("ends within its header: it is no IDX file, or cut off".to_owned()),
        }
    }

    /// Nothing may be left.
    fn end(&mut self) -> Result<()> {
        match self.fill(1, &mut vec![])? {
            true => {
                self.wrong("goes on after what its header says: it is no IDX file, or damaged".to_owned())
            }
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn file(words: &[u32], bytes: &[u8]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).chain(bytes.iter().copied()).collect()
    }

    fn parsed(images: &[u8], labels: &[u8]) -> Result<Dataset> {
        parse((images, Path::new("images")), (labels, Path::new("labels")))
    }

    #[test]
    fn two_images_by_hand() {
        let images = file(&[IMAGES, 2, 1, 3], &[0, 255, 51, 0, 0, 0]);
        let data = parsed(&images, &file(&[LABELS, 2], &[7, 0])).unwrap();
        assert_eq!((data.features, &data.labels[..]), (3, &[7.0, 0.0][..]));
        assert_eq!(data.rows.row(0).collect::<Vec<_>>(), [(1, 1.0), (2, 0.2)]);
        assert_eq!(data.rows.row(1).count(), 0);
    }

    #[test]
    fn what_is_not_as_its_header_says_is_refused() {
        let (images, labels) = (file(&[IMAGES, 2, 1, 2], &[1; 4]), file(&[LABELS, 2], &[0, 1]));
        assert!(parsed(&images, &labels).is_ok());
        for (images, labels, words) in [
            (vec![], labels.clone(), "images: ends within its header"),
            (images[..15].to_vec(), labels.clone(), "images: ends within its header"),
            (labels.clone(), labels.clone(), "images: begins with 0x00000801, not 0x00000803"),
            (
                images.clone(),
                images.clone(),
                "labels: begins with 0x00000803, not 0x00000801: it is no IDX file",
            ),
            (file(&[0x0d03, 2, 1, 2], &[1; 4]), labels.clone(), "images: begins with 0x00000d03"),
            (images[..19].to_vec(), labels.clone(), "images: ends after 1 of 2 images"),
            (images.clone(), labels[..9].to_vec(), "labels: ends after 1 of 2 labels"),
            (images.clone(), file(&[LABELS, 3], &[0; 3]), "labels: has 3 labels, but there are 2 images"),
            ([&images[..], &[0]].concat(), labels.clone(), "images: goes on after what its header says"),
            (images.clone(), [&labels[..], &[0]].concat(), "labels: goes on after what its header says"),
            (file(&[IMAGES, 2, 0, 2], &[]), labels.clone(), "claims to hold 2 images of 0×2"),
            (file(&[IMAGES, 0, 1, 2], &[]), file(&[LABELS, 0], &[]), "claims to hold 0 images"),
            (file(&[IMAGES, 2, u32::MAX, u32::MAX], &[]), labels.clone(), "claims to hold 2 images"),
        ] {
            let error = parsed(&images, &labels).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        let many = u32::MAX;
        let error = parsed(&file(&[IMAGES, many, 1, 1], &[9]), &file(&[LABELS, many], &[9])).unwrap_err();
        assert!(error.to_string().contains("at most 268435456 pixels in all"), "{error}");
        // a claim within the limits costs no more than the bytes that are there
        let many = 1 << 28;
        let error = parsed(&file(&[IMAGES, many, 1, 1], &[9]), &file(&[LABELS, many], &[9])).unwrap_err();
        assert!(error.to_string().contains("ends after 1 of 268435456 images"), "{error}");
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(
            images in prop::collection::vec(any::<u8>(), 0..60), labels in prop::collection::vec(any::<u8>(), 0..20),
            sizes: [u8; 3], headed: bool,
        ) {
            let [count, height, width] = sizes.map(|size| u32::from(size % 4));
            let (images, labels) = match headed {
                true => (file(&[IMAGES, count, height, width], &images), file(&[LABELS, count], &labels)),
                false => (images, labels),
            };
            if let Ok(data) = parsed(&images, &labels) {
                prop_assert_eq!((data.len(), data.rows.len()), (count as usize, count as usize));
                data.check_rows().unwrap();
            }
        }
    }
}
