//! Answers that do not come from a handler, and what the metrics see of an answer.

use bytes::Bytes;

use crate::protocol::errors::{error_response, top_level_error};
use crate::protocol::{ApiKey, Request, Response, WireError};
use crate::runtime::Unavailable;
use crate::types::ErrorCode;

/// Answers a request that the machine did not. Its body is read again for the names it holds.
pub(super) fn unavailable(api: ApiKey, version: i16, body: &Bytes, why: Unavailable) -> Result<Response, WireError> {
    let request = Request::decode(api, version, body.clone())?;
    Ok(error_response(&request, version, why.error_code(is_data(api))))
}

/// Whether an API is about records: such a request has other codes for a broker that cannot serve it.
fn is_data(api: ApiKey) -> bool {
    matches!(
        api,
        ApiKey::Produce | ApiKey::Fetch | ApiKey::ListOffsets | ApiKey::DeleteRecords | ApiKey::OffsetForLeaderEpoch
    )
}

/// The name of an answer's top-level error, if it has one.
pub(super) fn error_name(response: &Response) -> Option<&'static str> {
    let code = top_level_error(response);
    (code != 0).then(|| ErrorCode::from_code(code).unwrap_or(ErrorCode::UnknownServerError).name())
}
