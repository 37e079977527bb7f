import APNS

/// A push of which the answer of APNs is awaited, with what goes on then.
struct InFlightPush {
    let goOn: Continuation
    let sending: PendingPush
    let pass: AdmittedPush
    let sentAtMilliseconds: Int64

    typealias Continuation = (PushOutcome, InFlightPush, DeliveryRecord) -> Void
}
