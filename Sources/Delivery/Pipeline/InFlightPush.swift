import APNS

/// A push whose outcome the pool has not reported yet.
struct InFlightPush {
    let pending: PendingPush
    let admission: AdmittedPush
    let sentAtMilliseconds: Int64
}
