import APNSProtocol
import Crypto

/// The newest requests, up to a limit, in two rings: one of small entries and one of bytes.
///
/// Adding a request copies its bytes once, without decoding them.
///
/// The type is a class, because it manages its memory itself. It is used only on the server's event loop.
final class RequestLog {
    /// Bytes in the byte ring for each request, except in a small log. A longer request may replace several old
    /// requests.
    static let bytesPerRequest = 1536
    private static let bytesMin = 131_072

    /// The data of a request except its bytes.
    struct Entry {
        var unixMilliseconds: Int64
        /// The time of the answer; 0 until the simulator has sent the answer.
        var answeredUnixMilliseconds: Int64 = 0
        var connection: Int
        var payloadByteCount: Int
        var id: UUIDValue?
        var service: Service
        var stream: Int32
        /// The status of the answer; 0 if no answer is planned.
        var status: UInt16
        /// Whether the client presented a certificate on the connection.
        var hasCertificate = false
        var isDuplicate = false
        /// The exact cause of the refusal.
        var detail: RefusalDetail?
        /// Whether the simulator reset the stream because the request violated HTTP.
        var isMalformed = false
        /// Whether the last header is the cause of the violation.
        var hasMalformedHeader = false
        /// Whether the log omits the value of the malformed header.
        var hidesMalformedValue = false

        // The position and lengths of the request's bytes: headers, then payload, reason and fault.
        fileprivate(set) var start = 0
        fileprivate(set) var headerBytes: UInt16 = 0
        fileprivate(set) var payloadBytes: UInt16 = 0
        fileprivate(set) var reasonBytes: UInt8 = 0
        fileprivate(set) var faultBytes: UInt8 = 0

        fileprivate var bytes: Int { Int(headerBytes) + Int(payloadBytes) + Int(reasonBytes) + Int(faultBytes) }

        /// The request's range in the arena. The range is never empty, because `makeRoom(_:)` finds the requests to
        /// remove by their overlap with the new range.
        fileprivate var place: Range<Int> { start..<(start + max(1, bytes)) }
    }

    let requestsMax: Int
    private let arena: UnsafeMutableRawBufferPointer
    private var arenaEnd = 0
    private let ring: UnsafeMutablePointer<Entry>
    /// Number of the newest request; 0 before the first request.
    private(set) var newest = 0
    /// Number of kept requests.
    private(set) var count = 0

    /// Creates an empty log.
    ///
    /// - Parameter requestsMax: maximum number of kept requests. A value below 1 counts as 1.
    init(requestsMax: Int) {
        self.requestsMax = max(1, requestsMax)
        // The system commits pages of an allocation of this size at the first write.
        arena = .allocate(byteCount: max(Self.bytesMin, requestsMax * Self.bytesPerRequest), alignment: 16)
        ring = .allocate(capacity: self.requestsMax)
    }

    deinit {
        arena.deallocate()
        ring.deallocate()
    }

    /// Maximum memory of the log, in bytes.
    var bytesMax: Int { arena.count + requestsMax * MemoryLayout<Entry>.stride }

    /// Number of the oldest kept request; one more than ``newest`` if no request is kept.
    var oldest: Int { newest - count + 1 }

    /// Adds a request, replacing the oldest requests if necessary. Returns the request's number.
    func append(_ request: Request, _ entry: Entry, reason: Reason?, faultID: String?) -> Int {
        var entry = entry
        let secret = Self.secret(of: request)
        let records = request.headerRecords
        let payload = UnsafeRawBufferPointer(
            rebasing: request.bodyBytes.prefix(APNSLimits.payloadBytesMaxVoIP))
        entry.headerBytes = UInt16(clamping: records.count - secret.count)
        entry.payloadBytes = UInt16(clamping: payload.count)
        withTexts(reason, faultID) { reason, faultID in
            entry.reasonBytes = UInt8(clamping: reason.count)
            entry.faultBytes = UInt8(clamping: faultID.count)
            entry.start = makeRoom(entry.bytes)
            let space = UnsafeMutableRawBufferPointer(rebasing: arena[entry.start..<(entry.start + entry.bytes)])
            var position = 0
            func write(_ piece: UnsafeRawBufferPointer) {
                UnsafeMutableRawBufferPointer(rebasing: space[position...]).copyMemory(from: piece)
                position += piece.count
            }
            write(UnsafeRawBufferPointer(rebasing: records[..<secret.lowerBound]))
            write(UnsafeRawBufferPointer(rebasing: records[secret.upperBound...]))
            if let value = request.authorizationRange, !secret.isEmpty {
                HeaderRecord.setValueCount(
                    value.count - secret.count, in: space, valueStart: value.lowerBound,
                    nameCount: HeaderName.authorization.utf8CodeUnitCount)
            }
            write(payload)
            write(UnsafeRawBufferPointer(rebasing: reason[..<Int(entry.reasonBytes)]))
            write(UnsafeRawBufferPointer(rebasing: faultID[..<Int(entry.faultBytes)]))
        }
        newest += 1
        count += 1
        (ring + (newest - 1) % requestsMax).initialize(to: entry)
        return newest
    }

    /// Returns the range of the bytes in the header records that must not be kept.
    private static func secret(of request: Request) -> Range<Int> {
        guard let range = request.authorizationRange, let value = request[.authorization] else { return 0..<0 }
        return (range.upperBound - HeaderRecord.secret(in: value).count)..<range.upperBound
    }

    private func withTexts(
        _ reason: Reason?, _ faultID: String?, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Void
    ) {
        var reasonText = ""
        if case .unknown(let text)? = reason { reasonText = text }
        var faultID = faultID ?? ""
        reasonText.withUTF8 { unknown in
            faultID.withUTF8 { faultID in
                let known = reason?.knownText.bytes
                body(
                    unknown.isEmpty ? known ?? UnsafeRawBufferPointer(unknown) : UnsafeRawBufferPointer(unknown),
                    UnsafeRawBufferPointer(faultID))
            }
        }
    }

    /// Removes the oldest requests until the log has room for another entry and this number of contiguous bytes.
    /// Returns the start of these bytes.
    private func makeRoom(_ bytes: Int) -> Int {
        if count == requestsMax { count -= 1 }
        let bytes = max(1, bytes)
        var start = arenaEnd
        if arena.count - arenaEnd < bytes {
            // Requests from `arenaEnd` on are older than requests at the start of the arena.
            while count > 0, self[entry: oldest].start >= arenaEnd { count -= 1 }
            start = 0
        }
        arenaEnd = start + bytes
        while count > 0, self[entry: oldest].place.overlaps(start..<arenaEnd) { count -= 1 }
        return start
    }

    private subscript(entry number: Int) -> Entry { ring[(number - 1) % requestsMax] }

    /// Records when the simulator sent the answer. Does nothing if the request is no longer kept.
    func answered(_ number: Int, atUnixMilliseconds time: Int64) {
        guard number >= oldest, number <= newest else { return }
        ring[(number - 1) % requestsMax].answeredUnixMilliseconds = time
    }

    /// Removes all requests, and restarts the numbers.
    func removeAll() {
        (newest, count) = (0, 0)
        arenaEnd = 0
    }

    /// Calls `body` with a request. Returns nil if the request is not kept.
    func with<Result>(_ number: Int, _ body: (RequestView) -> Result) -> Result? {
        guard number >= oldest, number <= newest else { return nil }
        let entry = self[entry: number]
        return body(
            RequestView(
                number: number, entry: entry,
                bytes: UnsafeRawBufferPointer(rebasing: arena[entry.start..<(entry.start + entry.bytes)])))
    }
}
