/// Accepts connections until it is closed.
open class ByteListener {
    /// Where it listens, with the port that was given when 0 was asked for.
    public final let endpoint: Endpoint

    public init(endpoint: Endpoint) {
        self.endpoint = endpoint
    }

    /// Accepts no more; connections that were accepted stay.
    open func close() {}
}
