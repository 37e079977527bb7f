import AMQP
import EventLoop

/// Checks single requests as a worker does, with the worker's own reader: JSON, schema, app, environment, limits and the
/// app's own schema, in this order.
///
/// For commands. It is not `Sendable` and keeps the memory of one reader.
public final class RequestChecker {
    private let reader: RequestReader

    /// - Parameters:
    ///   - payloadSchemas: for the same apps.
    ///   - messageBytesMax: largest body in bytes.
    public init(apps: AppDirectory, payloadSchemas: PayloadSchemas, messageBytesMax: Int) {
        reader = RequestReader(
            apps: apps, payloadSchemas: payloadSchemas, bytesMax: messageBytesMax,
            depthMax: LaneConfiguration.messageDepthMaxDefault)
    }

    /// Returns why a worker would refuse a request; nil if it would push the request.
    ///
    /// The body needs no id: the AMQP message has one.
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
