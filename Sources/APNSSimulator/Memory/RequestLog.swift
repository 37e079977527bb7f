import APNSProtocol
import Crypto

/// The newest requests, as many as it is told to keep, in two rings: one of small entries, one of bytes. A request costs
/// one copy of its bytes as they came; text is made of them when somebody asks.
///
/// `final class`, because it owns memory by hand. Used on the server's loop only.
final class RequestLog {
    /// Bytes kept for each request that may be kept; the oldest make room when requests are longer than that.
    static let bytesPerRequest = 1536
    private static let bytesMin = 131_072

    /// What is kept of a request beside its bytes.
    struct Entry {
        var unixMilliseconds: Int64
        /// 0 until an answer was sent.
        var answeredUnixMilliseconds: Int64 = 0
        var connection: Int
        var payloadByteCount: Int
        var id: UUIDValue?
        var service: Service
        var stream: Int32
        /// 0 when no answer is planned.
        var status: UInt16
        /// Its connection had shown a certificate.
        var hasCertificate = false
        var isDuplicate = false
        /// What exactly the rules have against it.
        var detail: RefusalDetail?
        /// Whether its stream was reset because it broke the rules of HTTP.
        var isMalformed = false
        /// Whether its last header is what broke them.
        var hasMalformedHeader = false
        /// Whether that header's value is not kept.
        var hidesMalformedValue = false

        // Where its bytes are: headers, then payload, reason and fault.
        fileprivate(set) var start = 0
        fileprivate(set) var headerBytes: UInt16 = 0
        fileprivate(set) var payloadBytes: UInt16 = 0
        fileprivate(set) var reasonBytes: UInt8 = 0
        fileprivate(set) var faultBytes: UInt8 = 0

        fileprivate var bytes: Int { Int(headerBytes) + Int(payloadBytes) + Int(reasonBytes) + Int(faultBytes) }

        /// Where it stands in the arena; never empty, so that the order of the entries is that of their places.
        fileprivate var place: Range<Int> { start..<(start + max(1, bytes)) }
    }

    let requestsMax: Int
    private let arena: UnsafeMutableRawBufferPointer
    private var arenaEnd = 0
    private let ring: UnsafeMutablePointer<Entry>
    /// Requests numbered so far, from the first.
    private(set) var newest = 0
    /// Requests kept.
    private(set) var count = 0

    /// - Parameter requestsMax: at least 1.
    init(requestsMax: Int) {
        self.requestsMax = max(1, requestsMax)
        // The system gives memory of this size when it is first written to.
        arena = .allocate(byteCount: max(Self.bytesMin, requestsMax * Self.bytesPerRequest), alignment: 16)
        ring = .allocate(capacity: self.requestsMax)
    }

    deinit {
        arena.deallocate()
        ring.deallocate()
    }

    /// Bytes that it takes at most.
    var bytesMax: Int { arena.count + requestsMax * MemoryLayout<Entry>.stride }

    /// The number of the oldest request that is kept; one more than the newest when none is.
    var oldest: Int { newest - count + 1 }

    /// Keeps a request, if need be in place of the oldest; its number.
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

    /// What of the header records is not to be kept.
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

    /// Takes out the oldest until there is room for so many bytes in one piece and for one more entry; where it begins.
    private func makeRoom(_ bytes: Int) -> Int {
        if count == requestsMax { count -= 1 }
        let bytes = max(1, bytes)
        var start = arenaEnd
        if arena.count - arenaEnd < bytes {
            // What stands behind the newest is older than all that stands at the beginning.
            while count > 0, self[entry: oldest].start >= arenaEnd { count -= 1 }
            start = 0
        }
        arenaEnd = start + bytes
        while count > 0, self[entry: oldest].place.overlaps(start..<arenaEnd) { count -= 1 }
        return start
    }

    private subscript(entry number: Int) -> Entry { ring[(number - 1) % requestsMax] }

    /// Notes when a request's answer was sent; does nothing when the request is not kept any more.
    func answered(_ number: Int, atUnixMilliseconds time: Int64) {
        guard number >= oldest, number <= newest else { return }
        ring[(number - 1) % requestsMax].answeredUnixMilliseconds = time
    }

    /// Forgets all requests; numbers begin anew.
    func removeAll() {
        (newest, count) = (0, 0)
        arenaEnd = 0
    }

    /// Lets `body` look at a request that is kept; nil when it is not.
    func with<Result>(_ number: Int, _ body: (RequestView) -> Result) -> Result? {
        guard number >= oldest, number <= newest else { return nil }
        let entry = self[entry: number]
        return body(
            RequestView(
                number: number, entry: entry,
                bytes: UnsafeRawBufferPointer(rebasing: arena[entry.start..<(entry.start + entry.bytes)])))
    }
}
