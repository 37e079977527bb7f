/// All that a simulator is told of its world: what a state file says, and what the admin port gives out and takes back.
/// ``StateReader`` reads it, and what `write` writes reads back as the same.
public struct StateDocument: Sendable {
    public var state: SimulatorState
    /// In the order in which they are asked.
    public var faults: [Fault]

    public init(state: SimulatorState = SimulatorState(), faults: [Fault] = []) {
        self.state = state
        self.faults = faults
    }
}
