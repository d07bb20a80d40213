%% Makes the two bucket types, in steps: it is run until it finds both of them active.

%% Of itself, Riak starts consensus when a cluster has three members; this is what it calls then.
riak_ensemble_manager:enabled() orelse begin
    riak_ensemble_manager:enable(),
    riak_core_ring_manager:force_update()
end,

lists:foreach(
    fun({Type, Properties}) ->
        case riak_core_bucket_type:status(Type) of
            active -> ok;
            undefined -> ok = riak_core_bucket_type:create(Type, Properties);
            _ -> ok = riak_core_bucket_type:activate(Type)
        end,
        active = riak_core_bucket_type:status(Type)
    end,
    [
        {<<"ycsb_strong">>, [{consistent, true}, {n_val, 1}]},
        {<<"ycsb_eventual">>, [{allow_mult, false}, {n_val, 1}]}
    ]
).
