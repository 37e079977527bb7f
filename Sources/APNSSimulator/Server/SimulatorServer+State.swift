import EventLoop

// The whole of what a server was told, to be looked at, exchanged, and brought back to how it was.

extension SimulatorServer {
    /// What it knows of the world now.
    public var document: StateDocument {
        StateDocument(state: state, faults: faults.entries.map(\.fault))
    }

    /// Knows another world from now on; connections that are open stay so.
    public func become(_ document: StateDocument) {
        loop.assertOnLoop()
        state.become(document.state)
        faults.replaceAll(with: document.faults)
        if let offset = document.clockOffset { clockOffset = offset }
        watchIdle()
    }

    /// Is as when it started: its state, its faults, its clock, its memory. Connections that are open stay so.
    ///
    /// - Parameter keepsState: keep what is known of the world, apart from faults.
    public func reset(keepsState: Bool = false) {
        loop.assertOnLoop()
        if !keepsState { state.become(documentAtStart.state) }
        faults.replaceAll(with: documentAtStart.faults)
        resetMemory()
        // Looks at idle connections, too.
        clockOffset = documentAtStart.clockOffset ?? .zero
    }
}
