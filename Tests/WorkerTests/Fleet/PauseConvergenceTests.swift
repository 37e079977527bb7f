import ControlProtocol
import Crypto
import Delivery
import EventLoop
import Testing

@testable import Worker

/// 1,000 random changes of four writers, in a log that a lock serializes. Each reader, early or late, has the same set.
@Suite struct PauseConvergenceTests {
    private static let start: Int64 = 1_764_300_000_000

    /// A worker that reads the log, with the scopes that its lanes would pause.
    private struct Reader {
        var state: PauseState
        var set = PauseSet()
        var isAttached = false
        var permissions = 0

        init(at now: Now) {
            state = PauseState(startedAt: now.monotonic)
            perform(state.start(), now)
        }

        mutating func handle(_ event: PauseState.Event, _ now: Now) { perform(state.handle(event, now: now), now) }

        private mutating func perform(_ actions: [PauseState.Action], _ now: Now) {
            for action in actions {
                switch action {
                case .pause(let scope, let note): _ = set.set(scope, note, by: .fleet, at: now.monotonic)
                case .resume(let scope): _ = set.set(scope, nil, by: .fleet, at: now.monotonic)
                case .mayConsume: permissions += 1
                case .setTimer, .report: break
                }
            }
        }
    }

    private static func now(_ milliseconds: Int64) -> Now {
        let nanoseconds = milliseconds * 1_000_000
        return Now(monotonic: MonotonicTime(nanoseconds: nanoseconds), unixNanoseconds: start * 1_000_000 + nanoseconds)
    }

    private static func change(_ writer: Int, _ random: inout SeededRandom, _ now: Now) -> PauseRecord.Change {
        let scopes = [.everything] + (0..<80).map { PauseScope.topic("com.example.\($0)") }
        let scope = scopes[random.below(scopes.count)]
        guard random.chance(percent: 60) else { return .resume(scope) }
        let until = random.chance(percent: 50) ? now.unixMilliseconds + 1 + Int64(random.below(60_000)) : nil
        return .pause(
            FleetPause(
                scope: scope, by: "writer \(writer)", why: "reason \(random.below(3))", since: now.unixMilliseconds,
                until: until))
    }

    /// The scopes and reasons that must be in force, from a model that is independent of the records.
    private struct Model {
        var pauses: [PauseScope: FleetPause] = [:]

        mutating func apply(_ change: PauseRecord.Change) {
            switch change {
            case .pause(let pause): pauses[pause.scope] = pause
            case .resume(let scope): pauses[scope] = nil
            }
        }

        func notes(at now: Now) -> [PauseScope: PauseNote] {
            pauses.filter { ($0.value.until ?? .max) > now.unixMilliseconds }.mapValues(\.note)
        }
    }

    @Test(arguments: 1...3 as ClosedRange<UInt64>) func everyReaderHasTheSameSet(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var log = [PauseRecord(first: UUIDValue(high: 0x4000, low: seed))]
        var readers = [Reader(at: Self.now(0))]
        var model = Model()
        var applied = 0
        for step in 0..<1000 {
            let now = Self.now(Int64(step) * 100)
            // Each writer reads the newest record, because the lock serializes the writers.
            let newest = log[log.count - 1]
            let change = Self.change(random.below(4), &random, now)
            if let next = try? newest.applying(change, at: now.unixMilliseconds) {
                log.append(try PauseRecord(json: next.json))
                model.apply(change)
                applied += 1
            }
            if random.chance(percent: 1) { readers.append(Reader(at: now)) }
            for index in readers.indices where random.chance(percent: 15) {
                if random.chance(percent: 10) {
                    readers[index].isAttached = false
                    readers[index].handle(.detached(reason: "test"), now)
                } else if !readers[index].isAttached {
                    readers[index].isAttached = true
                    readers[index].handle(.attached, now)
                }
                guard readers[index].isAttached else { continue }
                // An attachment may deliver older records before the newest.
                let first = log.count - 1 - random.below(min(3, log.count))
                for record in log[first...] {
                    readers[index].handle(.recordRead(record), now)
                }
            }
        }
        let end = Self.now(1000 * 100)
        readers.append(Reader(at: end))
        let expected = model.notes(at: end)
        for index in readers.indices {
            readers[index].handle(.recordRead(log[log.count - 1]), end)
            readers[index].handle(.timerFired, end)
            let pauses = readers[index].set.pauses(of: .fleet)
            #expect(Dictionary(uniqueKeysWithValues: pauses.map { ($0.scope, $0.note) }) == expected)
            #expect(readers[index].permissions == 1)
        }
        #expect(applied > 500 && readers.count > 5 && !expected.isEmpty)
    }
}
