import AMQP
import EventLoop

/// A checker that validates single requests with the reader of a worker. The checker checks JSON, schema, app,
/// environment, limits and the app's payload schema, in this order.
///
/// The commands of `martlet` use the checker. It is not `Sendable`, since it keeps the memory of one reader.
public final class RequestChecker {
    private let reader: RequestReader

    /// Creates a checker.
    ///
    /// - Parameters:
    ///   - payloadSchemas: The payload schemas of `apps`.
    ///   - hasRegistrations: Whether requests to users are valid.
    ///   - messageBytesMax: The size of the largest body, in bytes.
    public init(apps: AppDirectory, payloadSchemas: PayloadSchemas, hasRegistrations: Bool, messageBytesMax: Int) {
        reader = RequestReader(
            apps: apps, payloadSchemas: payloadSchemas, hasRegistrations: hasRegistrations, bytesMax: messageBytesMax,
            depthMax: LaneConfiguration.messageDepthMaxDefault)
    }

    /// Returns the violation for which a worker would reject a request; nil if the request is valid.
    ///
    /// The body needs no id, since the AMQP message may have one.
    public func violation(of body: [UInt8]) -> RequestViolation? {
        let now = Now(monotonic: MonotonicTime(nanoseconds: 0), unixNanoseconds: 0)
        let record = DeliveryRecord(of: IncomingMessage(unpublished: body), from: 0, now)
        record.id = DeliveryRecord.namespace
        switch reader.read(record) {
        case .success: return nil
        case .failure(let violation): return violation
        }
    }
}
