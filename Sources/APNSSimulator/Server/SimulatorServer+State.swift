import EventLoop

// Reading, replacing and resetting the complete state.

extension SimulatorServer {
    /// The current state and faults, without the clock offset.
    public var document: StateDocument {
        StateDocument(state: state, faults: faults.entries.map(\.fault))
    }

    /// Replaces the state and the faults, and sets the clock offset if the document has one. Open connections stay
    /// open.
    public func replaceState(with document: StateDocument) {
        loop.assertOnLoop()
        state.replace(with: document.state)
        faults.replaceAll(with: document.faults)
        if let offset = document.clockOffset { clockOffset = offset }
        watchIdle()
    }

    /// Restores state, faults and clock as they were at the start, and clears the memory. Open connections stay open.
    ///
    /// - Parameter keepsState: whether to keep the state. Faults are reset in any case.
    public func reset(keepsState: Bool = false) {
        loop.assertOnLoop()
        if !keepsState { state.replace(with: documentAtStart.state) }
        faults.replaceAll(with: documentAtStart.faults)
        resetMemory()
        // Setting the offset also checks idle connections.
        clockOffset = documentAtStart.clockOffset ?? .zero
    }
}
