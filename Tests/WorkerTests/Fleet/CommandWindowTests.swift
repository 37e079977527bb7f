import ControlProtocol
import Crypto
import EventLoop
import Testing

@testable import Worker

/// The selection of the stream's commands that a worker runs.
@Suite struct CommandWindowTests {
    private var window = CommandWindow(worker: "w4")

    private static func command(
        _ id: UInt64, workers: [String]? = nil, _ action: FleetCommand.Action = .describe
    ) -> FleetCommand {
        FleetCommand(id: UUIDValue(high: 0x4000, low: id), by: "alice", workers: workers, action: action)
    }

    private mutating func decide(
        _ id: UInt64, milliseconds: Int64 = 0, workers: [String]? = nil, _ action: FleetCommand.Action = .describe
    ) -> CommandWindow.Decision {
        window.decide(
            Self.command(id, workers: workers, action), now: MonotonicTime(nanoseconds: milliseconds * 1_000_000))
    }

    @Test mutating func aCommandRunsOnce() {
        #expect(decide(1) == .run(.describe))
        #expect(decide(1) == .ignore)
        #expect(decide(2, .unsupported("dance")) == .unsupported("dance"))
        #expect(decide(2, .unsupported("dance")) == .ignore)
    }

    @Test mutating func commandsForOtherWorkersAreIgnoredAndNotRemembered() {
        #expect(decide(1, workers: ["w1", "w40"]) == .ignore)
        #expect(decide(1, workers: ["w1", "w4"]) == .run(.describe))
    }

    @Test mutating func the21stCommandInASecondIsBusy() {
        for id in 1...20 as ClosedRange<UInt64> { #expect(decide(id, milliseconds: Int64(id)) == .run(.describe)) }
        #expect(decide(21, milliseconds: 1000) == .busy)
        #expect(decide(21, milliseconds: 5000) == .ignore)
        #expect(decide(22, milliseconds: 1000, workers: ["w1"]) == .ignore)
        #expect(decide(23, milliseconds: 1001) == .run(.describe))
        #expect(decide(24, milliseconds: 1001) == .busy)
        #expect(decide(25, milliseconds: 1002) == .run(.describe))
    }

    @Test mutating func theLast1000IDsAreIgnored() {
        for id in 1...1000 as ClosedRange<UInt64> {
            #expect(decide(id, milliseconds: Int64(id) * 100) == .run(.describe))
        }
        #expect(decide(1, milliseconds: 200_000) == .ignore)
        #expect(decide(1001, milliseconds: 200_100) == .run(.describe))
        #expect(decide(2, milliseconds: 200_200) == .ignore)
        #expect(decide(1, milliseconds: 200_300) == .run(.describe))
        #expect(decide(2, milliseconds: 200_400) == .run(.describe))
    }

    @Test mutating func aWorkerStartsAtNext() {
        #expect(window.position(at: .at(0)) == .next)
        window.detached(heardAt: .at(5))
        #expect(window.position(at: .at(6)) == .next)
    }

    @Test mutating func aShortAbsenceContinuesAtTheLastRecord() {
        window.attached()
        #expect(window.recordRead(offset: 41) && window.recordRead(offset: 42))
        window.detached(heardAt: .at(100))
        // The first report of the loss counts, not those of failed attempts.
        window.detached(heardAt: .at(150))
        #expect(window.position(at: .at(130)) == .known(42))
        #expect(window.position(at: .at(160)) == .known(42))
        window.attached()
        #expect(!window.recordRead(offset: 42) && window.recordRead(offset: 43))
        window.detached(heardAt: .at(200))
        #expect(window.position(at: .at(201)) == .known(43))
    }

    @Test mutating func aLongAbsenceSkipsItsCommands() {
        window.attached()
        #expect(window.recordRead(offset: 42) == true)
        window.detached(heardAt: .at(100))
        #expect(window.position(at: .at(161)) == .next)
        window.attached()
        // A later short absence must not return to the skipped commands.
        window.detached(heardAt: .at(170))
        #expect(window.position(at: .at(171)) == .next)
        window.attached()
        #expect(window.recordRead(offset: 77) == true)
        window.detached(heardAt: .at(180))
        #expect(window.position(at: .at(181)) == .known(77))
    }

    @Test mutating func aWorkerWithoutCommandsLearnsItsPosition() {
        window.learned(offset: 3)
        #expect(window.position(at: .at(0)) == .next)
        window.attached()
        window.learned(offset: 9)
        window.detached(heardAt: .at(100))
        // An offset that arrives after the loss is ignored.
        window.learned(offset: 12)
        #expect(window.position(at: .at(160)) == .known(9))
        window.attached()
        #expect(!window.recordRead(offset: 9) && window.recordRead(offset: 10))
        window.learned(offset: 8)
        window.detached(heardAt: .at(200))
        #expect(window.position(at: .at(261)) == .next)
    }

    @Test mutating func theOffsetsOfAStreamThatWasDeclaredAgainStartOver() {
        window.attached()
        #expect(window.recordRead(offset: 5000) == true)
        window.streamDeleted()
        #expect(window.recordRead(offset: 0) == true)
        window.detached(heardAt: .at(1))
        #expect(window.position(at: .at(2)) == .known(0))
    }
}
