//! `SaslHandshake` and `SaslAuthenticate` on a listener without SASL: refused, and the connection stays usable.

use crate::protocol::message;
use crate::protocol::messages::{SaslAuthenticateResponse, SaslHandshakeResponse};
use crate::types::ErrorCode;

pub(in crate::server) fn handshake() -> SaslHandshakeResponse {
    message!(SaslHandshakeResponse { error_code: ErrorCode::IllegalSaslState.code() })
}

pub(in crate::server) fn authenticate() -> SaslAuthenticateResponse {
    message!(SaslAuthenticateResponse {
        error_code: ErrorCode::IllegalSaslState.code(),
        error_message: Some("This listener does not authenticate clients".into()),
    })
}
