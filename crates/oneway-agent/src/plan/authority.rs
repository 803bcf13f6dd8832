//! `oneway-agent keys`: a small certificate authority, and a certificate for each agent.

use std::fs::{OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose,
};
use time::{Duration, OffsetDateTime};

use crate::plan::endpoints::{OBSERVER, common_name};

/// Writes `authority.pem` and `.key`, and for each agent `agent-<number>.pem` and `.key`, with its name and
/// host, and the same for an observer. Certificates are valid for `days` days from yesterday on, since clocks
/// differ. The folder is written whole or not at all; an existing one is never changed.
pub fn make(hosts: &[String], days: u32, folder: &Path) -> Result<Vec<PathBuf>> {
    if std::fs::read_dir(folder).is_ok_and(|mut files| files.next().is_some()) {
        bail!("{} is not empty: give another folder", folder.display());
    }
    let parent = match folder.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        Some(parent) => parent,
        None => Path::new("."),
    };
    let place = || folder.display().to_string();
    std::fs::create_dir_all(parent).with_context(place)?;
    let mut aside = tempfile::Builder::new();
    let aside = aside.prefix(".keys-").permissions(Permissions::from_mode(0o700));
    let aside = aside.tempdir_in(parent).with_context(place)?;
    let names = write_all(hosts, days, aside.path())?;
    std::fs::rename(aside.path(), folder).with_context(place)?;
    Ok(names.into_iter().map(|name| folder.join(name)).collect())
}

/// Writes all files; returns their names.
fn write_all(hosts: &[String], days: u32, folder: &Path) -> Result<Vec<String>> {
    let yesterday = OffsetDateTime::now_utc() - Duration::days(1);
    let limit = |params: &mut CertificateParams| {
        params.not_before = yesterday;
        params.not_after = yesterday + Duration::days(1 + i64::from(days));
    };
    let mut params = CertificateParams::new(vec![])?;
    limit(&mut params);
    params.distinguished_name.push(DnType::CommonName, "oneway authority");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
    let mut written = vec![];
    let mut write = |name: String, text: &str, mode| -> Result<()> {
        write(&folder.join(&name), text, mode)?;
        written.push(name);
        Ok(())
    };
    write("authority.pem".to_owned(), &authority.pem(), 0o644)?;
    write("authority.key".to_owned(), &authority.key().serialize_pem(), 0o600)?;
    let agents = hosts.iter().enumerate().map(|(agent, host)| (common_name(agent), Some(host)));
    for (name, host) in agents.chain([(OBSERVER.to_owned(), None)]) {
        // links check the name; the host is information for people
        let names: Vec<String> = [name.clone()].into_iter().chain(host.cloned()).collect();
        let mut params = CertificateParams::new(names).with_context(|| {
            format!("\"{}\" is not a host that a certificate could name", host.map_or("", |host| host))
        })?;
        limit(&mut params);
        params.distinguished_name.push(DnType::CommonName, name.clone());
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &authority)?;
        write(format!("{name}.pem"), &certificate.pem(), 0o644)?;
        write(format!("{name}.key"), &key.serialize_pem(), 0o600)?;
    }
    Ok(written)
}

/// Writes a new file with these permissions.
fn write(path: &Path, text: &str, mode: u32) -> Result<()> {
    let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    written.with_context(|| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_secret_and_never_written_over() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("keys");
        let hosts = ["10.0.0.1".to_owned(), "b.example".to_owned()];
        let written = make(&hosts, 365, &folder).unwrap();
        assert_eq!(written.len(), 8);
        assert!(written.iter().all(|path| path.exists()));
        assert_eq!(std::fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        let key = folder.join("agent-1.key");
        assert_eq!(std::fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(std::fs::read_to_string(key).unwrap().contains("PRIVATE KEY"));
        let error = make(&hosts, 365, &folder).unwrap_err().to_string();
        assert!(error.contains("is not empty"), "{error}");
    }

    #[test]
    fn what_fails_leaves_nothing_behind() {
        let place = tempfile::tempdir().unwrap();
        let hosts = ["10.0.0.1".to_owned(), "no hóst".to_owned()];
        let error = format!("{:#}", make(&hosts, 365, &place.path().join("keys")).unwrap_err());
        assert!(error.contains("is not a host that a certificate could name"), "{error}");
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
    }
}
