/// The earlier rounds of a request, which its result reports. Pure.
///
/// Neighboring rounds with the same event and code are one entry. The header `push-history` carries the history through
/// waits.
struct RequestHistory: Sendable, Hashable {
    /// The maximum number of entries. A further entry replaces the oldest entry but the first.
    static let entriesMax = 16
    /// The maximum size of the header, in bytes.
    static let headerBytesMax = 1024
    /// The maximum size of a code. All entries with codes of this size fit into the header.
    static let codeBytesMax = 32
    private static let roundsMax = 1_000_000
    /// The maximum time, in UNIX milliseconds.
    private static let timeMax: Int64 = 9_999_999_999_999

    /// The event that began a round.
    enum Event: String, Sendable, CaseIterable {
        /// An attempt that failed.
        case attempt
        /// A hold without an attempt.
        case hold
        /// A move to the quarantine.
        case quarantine
    }

    struct Entry: Sendable, Hashable {
        /// The start of the first round, in UNIX milliseconds.
        var at: Int64
        var event: Event
        /// The code of APNs or of the worker, as in results.
        var code: String
        /// The number of rounds.
        var rounds = 1
        /// The planned end of the last round, in UNIX milliseconds; nil for a move to the quarantine.
        var until: Int64?
    }

    private(set) var entries: [Entry] = []

    /// Adds a round.
    mutating func add(_ event: Event, _ code: String, at: Int64, until: Int64?) {
        let code = Self.word(code)
        let last = entries.count - 1
        if last >= 0, entries[last].event == event, entries[last].code == code {
            entries[last].rounds = min(entries[last].rounds + 1, Self.roundsMax)
            entries[last].until = until.map(Self.clamped)
            return
        }
        if entries.count == Self.entriesMax { entries.remove(at: 1) }
        entries.append(Entry(at: Self.clamped(at), event: event, code: code, until: until.map(Self.clamped)))
    }

    private static func clamped(_ time: Int64) -> Int64 { min(max(time, 0), timeMax) }

    /// Returns the code, cut to `codeBytesMax`, with a hyphen instead of each byte that no code contains. Returns a
    /// hyphen for an empty code.
    private static func word(_ code: String) -> String {
        let bytes = code.utf8.prefix(codeBytesMax).map { isPartOfCode($0) ? $0 : UInt8(ascii: "-") }
        return bytes.isEmpty ? "-" : String(decoding: bytes, as: UTF8.self)
    }

    private static func isPartOfCode(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}

/// The encoding of the header. Semicolons separate entries, and commas separate fields. The fields are the first letter
/// of the event, the code, and three numbers in base 36. The numbers are those of the rounds, the start and the end.
extension RequestHistory {
    private static let radix = 36
    private static let fieldCount = 5

    /// The value of the header; nil without entries.
    var header: String? {
        guard !entries.isEmpty else { return nil }
        return entries.map { entry in
            let numbers = [Int64(entry.rounds), entry.at, entry.until].map {
                $0.map { String($0, radix: Self.radix) } ?? ""
            }
            return ([String(entry.event.letter), entry.code] + numbers).joined(separator: ",")
        }
        .joined(separator: ";")
    }

    /// Reads a header. Returns nil for a malformed or too large value.
    init?(header: String) {
        guard header.utf8.count <= Self.headerBytesMax else { return nil }
        for text in header.split(separator: ";", omittingEmptySubsequences: false) {
            guard entries.count < Self.entriesMax, let entry = Self.entry(text) else { return nil }
            entries.append(entry)
        }
    }

    private static func entry(_ text: Substring) -> Entry? {
        let fields = text.split(separator: ",", omittingEmptySubsequences: false)
        guard fields.count == fieldCount, let event = Event.allCases.first(where: { fields[0] == String($0.letter) }),
            1...codeBytesMax ~= fields[1].utf8.count, fields[1].utf8.allSatisfy(isPartOfCode),
            let rounds = number(fields[2], 1...Int64(roundsMax)), let at = number(fields[3], 0...timeMax)
        else { return nil }
        guard !fields[4].isEmpty else {
            return Entry(at: at, event: event, code: String(fields[1]), rounds: Int(rounds), until: nil)
        }
        return number(fields[4], 0...timeMax).map {
            Entry(at: at, event: event, code: String(fields[1]), rounds: Int(rounds), until: $0)
        }
    }

    private static func number(_ text: Substring, _ range: ClosedRange<Int64>) -> Int64? {
        Int64(text, radix: radix).flatMap { range.contains($0) ? $0 : nil }
    }
}

extension RequestHistory.Event {
    fileprivate var letter: Character {
        switch self {
        case .attempt: "a"
        case .hold: "h"
        case .quarantine: "q"
        }
    }
}
