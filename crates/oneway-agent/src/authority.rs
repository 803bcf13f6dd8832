//! `oneway-agent keys`: a small certificate authority, and a certificate for each agent.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose,
};

use crate::net::config::common_name;
use crate::net::observer::OBSERVER;

/// Writes `authority.pem` and `.key`, and `agent-<number>.pem` and `.key` for each agent, valid for its host, and the same for
/// an observer. Files that are there are never written over.
pub fn make(hosts: &[String], folder: &Path) -> Result<Vec<PathBuf>> {
    if folder.join("authority.pem").exists() {
        bail!("{} has an authority already: give another folder", folder.display());
    }
    let mut params = CertificateParams::new(vec![])?;
    params.distinguished_name.push(DnType::CommonName, "oneway authority");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let mut written = vec![
        write(&folder.join("authority.pem"), &authority.pem(), 0o644)?,
        write(&folder.join("authority.key"), &authority.key().serialize_pem(), 0o600)?,
    ];
    let agents = hosts.iter().enumerate().map(|(agent, host)| (common_name(agent), Some(host)));
    for (name, host) in agents.chain([(OBSERVER.to_owned(), None)]) {
        let mut params =
            CertificateParams::new(host.cloned().into_iter().collect::<Vec<_>>()).with_context(|| {
                format!("\"{}\" is no host that a certificate could name", host.map_or("", |host| host))
            })?;
        params.distinguished_name.push(DnType::CommonName, name.clone());
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &authority)?;
        written.push(write(&folder.join(format!("{name}.pem")), &certificate.pem(), 0o644)?);
        written.push(write(&folder.join(format!("{name}.key")), &key.serialize_pem(), 0o600)?);
    }
    Ok(written)
}

/// A new file with these rights.
fn write(path: &Path, text: &str, mode: u32) -> Result<PathBuf> {
    let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    written.with_context(|| path.display().to_string())?;
    Ok(path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn keys_are_secret_and_never_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let hosts = ["10.0.0.1".to_owned(), "b.example".to_owned()];
        let written = make(&hosts, folder.path()).unwrap();
        assert_eq!(written.len(), 8);
        let key = folder.path().join("agent-1.key");
        assert_eq!(std::fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(std::fs::read_to_string(key).unwrap().contains("PRIVATE KEY"));
        let error = make(&hosts, folder.path()).unwrap_err().to_string();
        assert!(error.contains("has an authority already"), "{error}");
    }
}
