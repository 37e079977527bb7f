import Testing

/// Checks a condition like `#expect`, but also supports calls of mutating methods, which the macro does not support.
func expect(_ condition: Bool, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(condition, comment, sourceLocation: sourceLocation)
}

/// Records a failure. Returns `Void`, so that a script can write `return fail(…)`.
func fail(_ comment: Comment, sourceLocation: SourceLocation = #_sourceLocation) {
    Issue.record(comment, sourceLocation: sourceLocation)
}
