extension Lane {
    /// Checks payloads by these from the next message on.
    public func replace(_ payloadSchemas: PayloadSchemas) { reader.replace(payloadSchemas) }
}
