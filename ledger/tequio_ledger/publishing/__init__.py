"""From signed to published: witnesses are asked, and what enough of them cosigned is shown."""
