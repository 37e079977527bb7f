import EventLoop
import Testing

@testable import PostgreSQL

@Suite struct PostgresConnectionMachineTests {
    /// A state machine and its virtual time.
    private struct Script {
        var machine: PostgresConnectionMachine
        var now = MonotonicTime(nanoseconds: 0)

        init(_ hosts: [PostgresHost] = [.tcp(Endpoint(host: "a", port: 1)), .tcp(Endpoint(host: "b", port: 2))]) {
            machine = PostgresConnectionMachine(
                hosts: hosts, requiresWrites: true, limits: PostgresConfiguration.Limits())
        }

        mutating func handle(_ event: PostgresConnectionMachine.Event) -> [String] {
            machine.handle(event, now: now, random: { 0 }).map(Self.text)
        }

        static func text(_ action: PostgresConnectionMachine.Action) -> String {
            switch action {
            case .resolve(let host): "resolve \(host)"
            case .stopResolving: "stopResolving"
            case .connect(let target): "connect \(target.address ?? "\(target.host)")"
            case .wait(let interest): "wait \(interest)"
            case .prepare: "prepare"
            case .prepareAgain: "prepareAgain"
            case .disconnect: "disconnect"
            case .arm(let delay): "arm \(delay)"
            case .cancelTimer: "cancelTimer"
            case .awaitDrained: "awaitDrained"
            case .report: "report"
            case .failStatements(let error): "fail \(error.code)"
            case .release: "release"
            }
        }

        /// The name of the state, with the host or address of an attempt to connect.
        var state: String {
            switch machine.state {
            case .idle: "idle"
            case .resolving(let host, _): "resolving \(host)"
            case .connecting(let target, _): "connecting \(target.address ?? "socket")"
            case .preparing(let target, _): "preparing \(target.address ?? "socket")"
            case .ready(_, let isPreparing): isPreparing ? "repreparing" : "ready"
            case .waiting: "waiting"
            case .closing: "closing"
            case .closed: "closed"
            }
        }

        var error: PostgresError? {
            if case .waiting(let error) = machine.state { error } else { nil }
        }
    }

    private static let lost = PostgresError(.unreachable, "lost")
    private static let refused = PostgresError(SQLState("28P01")!)

    private static let reaching: [(String, [PostgresConnectionMachine.Event])] = [
        ("idle", []),
        ("resolving a:1", [.start]),
        ("connecting x", [.start, .resolved(["x", "y"])]),
        ("preparing x", [.start, .resolved(["x", "y"]), .connected]),
        ("ready", [.start, .resolved(["x"]), .connected, .prepared(acceptsWrites: true)]),
        (
            "repreparing",
            [.start, .resolved(["x"]), .connected, .prepared(acceptsWrites: true), .planOutdated]
        ),
        ("waiting", [.start, .resolveFailed(lost), .resolveFailed(lost)]),
        (
            "closing",
            [.start, .resolved(["x"]), .connected, .prepared(acceptsWrites: true), .close(deadlineSeconds: 5)]
        ),
        ("closed", [.close(deadlineSeconds: 5)]),
    ]

    private static let events: [(String, PostgresConnectionMachine.Event)] = [
        ("start", .start), ("resolved", .resolved(["z"])), ("resolveFailed", .resolveFailed(lost)),
        ("connectWaits", .connectWaits(.writable)), ("connected", .connected),
        ("prepared", .prepared(acceptsWrites: true)), ("readOnly", .prepared(acceptsWrites: false)),
        ("planOutdated", .planOutdated), ("failed", .failed(lost)), ("timerFired", .timerFired),
        ("close", .close(deadlineSeconds: 5)), ("drained", .drained),
    ]

    /// The next state and the actions for pairs of state and event. All other pairs change nothing.
    private static let transitions: [String: (String, [String])] = [
        "idle start": ("resolving a:1", ["arm 10.0 seconds", "resolve a", "report"]),
        "idle close": ("closed", ["cancelTimer", "disconnect", "fail closed", "report", "release"]),
        "resolving a:1 resolved": ("connecting z", ["arm 2.0 seconds", "connect z"]),
        "resolving a:1 resolveFailed": ("resolving b:2", ["arm 10.0 seconds", "resolve b"]),
        "resolving a:1 timerFired": ("resolving b:2", ["stopResolving", "arm 10.0 seconds", "resolve b"]),
        "resolving a:1 close": (
            "closed", ["stopResolving", "cancelTimer", "disconnect", "fail closed", "report", "release"]
        ),
        "connecting x connectWaits": ("connecting x", ["wait writable"]),
        "connecting x connected": ("preparing x", ["cancelTimer", "prepare"]),
        "connecting x failed": ("connecting y", ["disconnect", "arm 2.0 seconds", "connect y"]),
        "connecting x timerFired": ("connecting y", ["disconnect", "arm 2.0 seconds", "connect y"]),
        "connecting x close": ("closed", ["cancelTimer", "disconnect", "fail closed", "report", "release"]),
        "preparing x prepared": ("ready", ["report"]),
        "preparing x readOnly": ("connecting y", ["disconnect", "arm 2.0 seconds", "connect y"]),
        "preparing x failed": ("connecting y", ["disconnect", "arm 2.0 seconds", "connect y"]),
        "preparing x close": ("closed", ["cancelTimer", "disconnect", "fail closed", "report", "release"]),
        "ready planOutdated": ("repreparing", ["prepareAgain"]),
        "ready failed": ("waiting", ["disconnect", "arm 0.1 seconds", "report", "fail unreachable"]),
        "ready close": ("closing", ["arm 5.0 seconds", "report", "awaitDrained"]),
        "repreparing prepared": ("ready", []),
        "repreparing readOnly": ("ready", []),
        "repreparing failed": ("waiting", ["disconnect", "arm 0.1 seconds", "report", "fail unreachable"]),
        "repreparing close": ("closing", ["arm 5.0 seconds", "report", "awaitDrained"]),
        "waiting timerFired": ("resolving a:1", ["arm 10.0 seconds", "resolve a", "report"]),
        "waiting close": ("closed", ["cancelTimer", "disconnect", "fail closed", "report", "release"]),
        "closing drained": ("closed", ["cancelTimer", "disconnect", "fail closed", "report", "release"]),
        "closing timerFired": ("closed", ["cancelTimer", "disconnect", "fail closed", "report", "release"]),
        "closing failed": ("closed", ["cancelTimer", "disconnect", "fail unreachable", "report", "release"]),
    ]

    @Test func everyEventInEveryState() {
        var used = Set<String>()
        for (state, steps) in Self.reaching {
            for (name, event) in Self.events {
                var script = Script()
                for step in steps { _ = script.handle(step) }
                #expect(script.state == state)
                let key = "\(state) \(name)"
                let actions = script.handle(event)
                let (next, expected) = Self.transitions[key] ?? (state, [])
                #expect(script.state == next, "\(key)")
                #expect(actions == expected, "\(key)")
                if Self.transitions[key] != nil { used.insert(key) }
            }
        }
        #expect(used == Set(Self.transitions.keys))
    }

    @Test func theLastGoodAddressComesFirst() {
        var script = Script()
        _ = script.handle(.start)
        _ = script.handle(.resolveFailed(Self.lost))
        _ = script.handle(.resolved(["x", "y"]))
        #expect(script.handle(.failed(Self.lost)) == ["disconnect", "arm 2.0 seconds", "connect y"])
        _ = script.handle(.connected)
        _ = script.handle(.prepared(acceptsWrites: true))
        _ = script.handle(.failed(Self.lost))
        #expect(script.handle(.timerFired) == ["arm 10.0 seconds", "resolve b", "report"])
        #expect(script.handle(.resolved(["x", "y"])) == ["arm 2.0 seconds", "connect y"])
    }

    @Test func aSocketNeedsNoLookup() {
        var script = Script([.socket(directory: "/run", port: 1)])
        #expect(script.handle(.start) == ["arm 2.0 seconds", "connect /run/.s.PGSQL.1", "report"])
    }

    @Test func theDelayGrowsAndIsLongForErrorsThatNeedAnOperator() {
        var script = Script([.socket(directory: "/run", port: 1)])
        _ = script.handle(.start)
        var delays: [String] = []
        for _ in 0..<3 {
            delays += script.machine.handle(.failed(Self.lost), now: script.now, random: { .max }).map(Script.text)
                .filter { $0.hasPrefix("arm") }
            _ = script.handle(.timerFired)
        }
        #expect(delays == ["arm 0.249999999 seconds", "arm 0.499999999 seconds", "arm 0.999999999 seconds"])
        #expect(script.handle(.failed(Self.refused)).contains("arm 2.5 seconds"))
    }

    @Test func anErrorThatNeedsAnOperatorIsReported() {
        var script = Script()
        _ = script.handle(.start)
        _ = script.handle(.resolved(["x"]))
        _ = script.handle(.failed(Self.refused))
        _ = script.handle(.resolved(["y"]))
        _ = script.handle(.failed(Self.lost))
        #expect(script.error?.state?.description == "28P01")
        #expect(script.error?.message.hasPrefix("a:1: ") == true)
    }

    @Test func aStandbyIsReportedAsReadOnly() {
        var script = Script([.socket(directory: "/run", port: 1)])
        for event: PostgresConnectionMachine.Event in [.start, .connected, .prepared(acceptsWrites: false)] {
            _ = script.handle(event)
        }
        #expect(script.error?.outcome == .readOnly)
        #expect(script.error?.isRetriable == true)
    }

    @Test func aReaderAcceptsAStandby() {
        var machine = PostgresConnectionMachine(
            hosts: [.socket(directory: "/run", port: 1)], requiresWrites: false,
            limits: PostgresConfiguration.Limits())
        for event: PostgresConnectionMachine.Event in [.start, .connected, .prepared(acceptsWrites: false)] {
            _ = machine.handle(event, now: MonotonicTime(nanoseconds: 0), random: { 0 })
        }
        guard case .ready = machine.state else {
            Issue.record("not ready: \(machine.state)")
            return
        }
    }
}
