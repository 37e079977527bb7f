/// All that a simulator is told of its world: what a state file says, and what the admin port gives out and takes back.
/// ``StateReader`` reads it, and what `write` writes reads back as the same.
public struct StateDocument: Sendable {
    public var state: SimulatorState
    /// In the order in which they are asked.
    public var faults: [Fault]
    /// How far the clock is ahead; nil for a clock that is left as it is. Not written: the clock has a place of its own.
    public var clockOffset: Duration?

    public init(state: SimulatorState = SimulatorState(), faults: [Fault] = [], clockOffset: Duration? = nil) {
        self.state = state
        self.faults = faults
        self.clockOffset = clockOffset
    }
}
