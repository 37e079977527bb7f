import APNS

/// A push of which the answer of APNs is awaited, with what goes on then.
struct Flight {
    let goOn: Continuation
    let sending: Sending
    let pass: Breakers.Pass
    let sentAtMilliseconds: Int64

    typealias Continuation = (PushOutcome, Flight, DeliveryRecord) -> Void
}
