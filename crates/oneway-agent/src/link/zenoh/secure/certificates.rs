//! The key files, as settings of rustls: TLS 1.3 only, with certificates on both sides.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::version::TLS13;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};

use crate::plan::endpoints::Tls;

/// The settings of both ends of a connection.
#[derive(Debug)]
pub(super) struct Credentials {
    pub(super) server: Arc<ServerConfig>,
    pub(super) client: Arc<ClientConfig>,
}

impl Credentials {
    /// From the three files.
    pub(super) fn read(Tls { authority, certificate, key }: &Tls) -> Result<Self> {
        let mut roots = RootCertStore::empty();
        for root in certificates(authority)? {
            roots.add(root).with_context(|| authority.display().to_string())?;
        }
        let (roots, provider) = (Arc::new(roots), Arc::new(ring::default_provider()));
        let own = certificates(certificate)?;
        let secret = || PrivateKeyDer::from_pem_file(key).with_context(|| key.display().to_string());
        let fits = || format!("{}: not the key of {}", key.display(), certificate.display());

        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::clone(&roots), Arc::clone(&provider));
        let mut server = ServerConfig::builder_with_provider(Arc::<CryptoProvider>::clone(&provider))
            .with_protocol_versions(&[&TLS13])?
            .with_client_cert_verifier(verifier.build()?)
            .with_single_cert(own.clone(), secret()?)
            .with_context(fits)?;
        server.send_tls13_tickets = 0; // every connection proves who it is
        let client = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13])?
            .with_root_certificates(roots)
            .with_client_auth_cert(own, secret()?)
            .with_context(fits)?;
        Ok(Self { server: Arc::new(server), client: Arc::new(client) })
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let read = || -> Result<Vec<_>> {
        let found: Vec<_> = CertificateDer::pem_file_iter(path)?.collect::<Result<_, _>>()?;
        anyhow::ensure!(!found.is_empty(), "no certificate in it");
        Ok(found)
    };
    read().with_context(|| path.display().to_string())
}

/// Whether a certificate, which has been verified, is for this name.
pub(super) fn is_for(certificate: &CertificateDer<'_>, name: &str) -> bool {
    let (certificate, name) = (webpki::EndEntityCert::try_from(certificate), ServerName::try_from(name));
    matches!((certificate, name), (Ok(certificate), Ok(name))
        if certificate.verify_is_valid_for_subject_name(&name).is_ok())
}
