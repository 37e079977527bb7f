public import APNSProtocol
public import Crypto
public import HTTP2

/// A request in the log, with its answer. Contains no credentials. The admin API shortens its device token by default.
public struct LoggedRequest: Sendable {
    /// Number of the request, from 1, in the order in which requests were complete or found to be malformed.
    public let number: Int
    private let entry: RequestLog.Entry
    private let bytes: [UInt8]

    init(_ view: RequestView) {
        number = view.number
        entry = view.entry
        bytes = Array(view.bytes)
    }

    func withView<Result>(_ body: (RequestView) -> Result) -> Result {
        bytes.withUnsafeBytes { body(RequestView(number: number, entry: entry, bytes: $0)) }
    }

    /// The time at which the request was complete or found to be malformed, by the simulator's clock.
    public var unixMilliseconds: Int64 { entry.unixMilliseconds }
    /// The time at which the simulator sent the answer; nil if the answer had not been sent when the log was read.
    public var answeredUnixMilliseconds: Int64? {
        entry.answeredUnixMilliseconds == 0 ? nil : entry.answeredUnixMilliseconds
    }
    /// The service that received the request.
    public var service: Service { entry.service }
    /// Number of the connection, from 1, in the order in which the simulator accepted connections.
    public var connection: Int { entry.connection }
    public var stream: Int32 { entry.stream }
    /// The request's ID: `apns-id` if it is a UUID, otherwise `apns-request-id`; nil if neither is a UUID.
    public var apnsID: UUIDValue? { entry.id }
    /// Whether the simulator processed the request and remembers an earlier processed request with the same ID.
    public var isDuplicate: Bool { entry.isDuplicate }
    /// Number of bytes of the body as sent, including bytes that were not kept.
    public var payloadByteCount: Int { entry.payloadByteCount }
    /// Status of the sent or planned answer; nil if no answer is planned because of a fault or a malformed request.
    public var status: Int? { entry.status == 0 ? nil : Int(entry.status) }
    /// Whether the simulator reset the stream with PROTOCOL_ERROR because the request violated HTTP (RFC 9113, 8.1.1).
    public var isMalformed: Bool { entry.isMalformed }
    /// Name of the header that made the request malformed. nil if no single header was the cause, or if the log had no
    /// room for the header.
    public var malformedField: String? { text { $0.malformedField } }
    /// The reason in the answer's body; nil for a body without a reason.
    public var reason: Reason? { withView { $0.reason.isEmpty ? nil : Reason($0.reason) } }
    /// The exact cause of a refusal by a fault, or by the rules for a reason with several possible causes; otherwise
    /// nil.
    public var detail: RefusalDetail? { entry.detail }
    /// ID of the fault that applied to the request; nil if none applied.
    public var faultID: String? { text { $0.faultID.isEmpty ? nil : $0.faultID } }

    /// The kept headers in the order of the request. The value of `authorization` lacks its secret part.
    public var headers: [LoggedHeader] {
        withView { view in
            view.headers.map {
                LoggedHeader(
                    name: String(decoding: $0.name, as: UTF8.self), value: String(decoding: $0.value, as: UTF8.self),
                    representation: $0.representation)
            }
        }
    }

    /// Returns the value of the first header of this name; nil if the request has no such header.
    public subscript(name: StaticString) -> String? { text { $0[name] } }

    /// The device token as sent; nil if the path is not `/3/device/…`.
    public var deviceToken: String? { text { $0.deviceToken } }

    /// The device token in shortened form; nil if the path is not `/3/device/…`.
    public var shortDeviceToken: String? { withView { $0.deviceToken.map { DeviceToken.shortened($0) } } }

    /// The value of `apns-topic`. Without the header, the bundle ID in the path of a broadcast or channel request; nil
    /// for other paths.
    public var topic: String? { text { $0.topic } }

    /// The kept bytes of the body. A payload within APNs' limits is complete.
    public var payload: [UInt8] { withView { Array($0.payload) } }

    /// SHA-256 of the body; nil if the body was not kept completely.
    public var payloadHash: SHA256Value? { withView { $0.isPayloadWhole ? SHA256Value(of: $0.payload) : nil } }

    private func text(_ part: (RequestView) -> UnsafeRawBufferPointer?) -> String? {
        withView { view in part(view).map { String(decoding: $0, as: UTF8.self) } }
    }
}

/// A header of a logged request.
public struct LoggedHeader: Sendable, Hashable {
    public var name: String
    public var value: String
    public var representation: HeaderRepresentation
}
