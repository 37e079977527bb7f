import ControlProtocol
import Delivery
import EventLoop
import History
import Text

/// A cause that holds requests: the open breakers of all workers with the same code and route.
///
/// Reports may be forged, so the number of cards and the sizes of their texts are limited.
struct CauseCard: Sendable, Hashable {
    static let cardsMax = 200
    private static let codeBytesMax = 128
    private static let routeBytesMax = 1024
    private static let appsMax = 100
    private static let appBytesMax = 200

    var code: String
    /// The route of the breaker: the authority, then the credential and the topic if the scope is that narrow.
    var route: String
    var sentence: String
    /// The longest time for which one of the breakers has been open.
    var seconds: Int
    /// The number of workers with the breaker.
    var workers: Int
    /// Some affected apps, as the workers name them.
    var apps: Set<String> = []

    /// The narrowest scope that contains the breaker.
    var scope: ProbeScope { ProbeScope(ofRoute: route) }

    /// The remedy, a reference to a section of the operators' guide to incidents; nil if the guide has no section.
    var remedy: String? {
        Self.guideSection(for: code).map {
            "follow the section \"\($0)\" of the operators' guide \"Handle incidents by symptom\""
        }
    }

    /// Returns the heading of the section that removes the cause with this code.
    static func guideSection(for code: String) -> String? {
        switch code {
        case "InvalidProviderToken": "Replace a revoked key"
        case "certificate-refused", "BadCertificate": "Replace an expiring certificate"
        case "unreachable", "certificate", "failing", "unanswered": "Reach APNs again"
        default: nil
        }
    }

    /// Returns the number of requests that wait because of the code, in the apps of a key, certificate or topic, or in
    /// all apps.
    func waiting(in waits: [OpenWaits]) -> Int {
        // "Bring all back" has the same extent.
        let isOfAll = !isOfApps || apps.isEmpty
        return waits.lazy.filter { $0.code == code && (isOfAll || apps.contains($0.app)) }.reduce(0) { $0 + $1.count }
    }

    /// Whether the breaker concerns only some apps.
    private var isOfApps: Bool {
        switch scope {
        case .part(.everything), .endpoint, .store: false
        case .part: true
        }
    }

    /// Returns the cards of the reporting workers, the longest open first.
    static func cards(of workers: [FleetView.Worker], at now: MonotonicTime) -> [CauseCard] {
        var cards: [Key: CauseCard] = [:]
        for worker in workers where worker.presence(at: now) == .reporting {
            let age = Int(worker.reportedAt.duration(to: now).components.seconds)
            var seen: Set<Key> = []
            for breaker in worker.report.status.breakers {
                let key = Key(
                    code: breaker.code.printable.cut(to: codeBytesMax),
                    route: breaker.route.printable.cut(to: routeBytesMax))
                guard cards[key] != nil || cards.count < cardsMax else { continue }
                let seconds = max(0, min(breaker.secondsOpen, Int(Int32.max))) + age
                let isFirst = seen.insert(key).inserted
                var card =
                    cards[key]
                    ?? CauseCard(
                        code: key.code, route: key.route,
                        sentence: breaker.sentence.printable.cut(to: FleetLimits.sentenceBytesMax), seconds: seconds,
                        workers: 0)
                card.seconds = max(card.seconds, seconds)
                card.add(breaker.apps)
                if isFirst { card.workers += 1 }
                cards[key] = card
            }
        }
        return cards.values.sorted { ($1.seconds, $0.code, $0.route) < ($0.seconds, $1.code, $1.route) }
    }

    private mutating func add(_ names: [String]) {
        for name in names.prefix(Self.appsMax) where apps.count < Self.appsMax {
            apps.insert(name.printable.cut(to: Self.appBytesMax))
        }
    }

    private struct Key: Hashable {
        let code: String
        let route: String
    }
}
