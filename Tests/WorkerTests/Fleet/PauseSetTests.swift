import ControlProtocol
import Delivery
import EventLoop
import Testing

@testable import Worker

/// The combination of a worker's own pauses and those of the fleet.
@Suite struct PauseSetTests {
    private var set = PauseSet()
    private static let note = PauseNote(by: "ana", reason: "key rotation")
    private static let other = PauseNote(by: "bob", reason: "wrong campaign")

    @Test mutating func aScopeIsPausedWhileEitherPausesIt() {
        #expect(set.set(.key("K"), Self.note, by: .worker, at: .at(1)).affectsLanes)
        #expect(!set.set(.key("K"), Self.other, by: .fleet, at: .at(2)).affectsLanes)
        #expect(set.all.map(\.note) == [Self.note, Self.other])
        #expect(set.scopes == [.key("K")])
        let resumed = set.set(.key("K"), nil, by: .worker, at: .at(3))
        #expect(resumed.hasChanged && resumed.isPaused && !resumed.affectsLanes)
        #expect(resumed.former?.note == Self.note)
        let last = set.set(.key("K"), nil, by: .fleet, at: .at(4))
        #expect(last.affectsLanes && !last.isPaused)
        #expect(set.all.isEmpty && !set.isPaused(.key("K")))
    }

    @Test mutating func aRepeatedPauseOfTheWorkerKeepsItsNote() {
        _ = set.set(.everything, Self.note, by: .worker, at: .at(1))
        let effect = set.set(.everything, Self.other, by: .worker, at: .at(2))
        #expect(!effect.hasChanged && !effect.affectsLanes && effect.isPaused)
        #expect(set.all.map(\.note) == [Self.note])
        #expect(set.all.map(\.since) == [.at(1)])
    }

    @Test mutating func aRepeatedPauseOfTheFleetReplacesTheNote() {
        _ = set.set(.everything, Self.note, by: .fleet, at: .at(1))
        #expect(!set.set(.everything, Self.other, by: .fleet, at: .at(2)).affectsLanes)
        #expect(set.all.map(\.note) == [Self.other])
        #expect(set.all.map(\.since) == [.at(1)])
    }

    @Test mutating func aResumptionWithoutAPauseChangesNothing() {
        _ = set.set(.topic("a"), Self.note, by: .fleet, at: .at(1))
        let effect = set.set(.topic("a"), nil, by: .worker, at: .at(2))
        #expect(!effect.hasChanged && !effect.affectsLanes && effect.isPaused && effect.former == nil)
    }
}
